/** Comparing what a server lists with the contracts that are pinned: a server that widens its own schema is found. Source: PROTOCOLS "MCP". */
import type { ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { listedTool } from './sdk-server.ts';
import { CONTRACT_META_KEY } from './wire.ts';

export interface Drift {
  readonly tool: string;
  /** What differs: `listed`, `input`, `output` or `contract`. */
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

/** Every difference between pinned and listed, by RFC 8785 digests; empty means none. Tools listed beyond the pinned are not used, so not judged. */
export function findDrift(contracts: readonly ToolContract[], listed: readonly Tool[]): readonly Drift[] {
  return contracts.flatMap((contract) => {
    const tool = listed.find(({ name }) => name === contract.tool);
    if (!tool) return [{ tool: contract.tool, what: 'listed', expected: 'listed', got: 'not listed' }];
    const pinned = listedTool(contract);
    return [
      ['input', digestOf(pinned.inputSchema), digestOf(tool.inputSchema)] as const,
      ['output', digestOf(pinned.outputSchema), digestOf(tool.outputSchema ?? null)] as const,
      ['contract', contract.digest, saidDigest(tool) ?? contract.digest] as const,
    ].flatMap(([what, expected, got]) => (expected === got ? [] : [{ tool: contract.tool, what, expected, got }]));
  });
}

const contractMeta = z.looseObject({ digest: z.string().max(128) });

/** A server that knows our contracts says which one it serves; a foreign server says nothing. */
function saidDigest({ _meta: meta }: Tool): string | undefined {
  return contractMeta.safeParse(meta?.[CONTRACT_META_KEY]).data?.digest;
}
