/** Finds the framework of a tool and puts every call of a copy of it under the session. */
import { CaseOpsError } from '#contracts/error.ts';
import { adoptTool, type ForeignTool } from './adopted-tool.ts';
import { member, type Govern, type ToolAdapter } from './adapters/adapter.ts';
import type { JsonArguments } from './call-arguments.ts';
import { aiSdkAdapter } from './adapters/ai-sdk-tool.ts';
import { langchainAdapter } from './adapters/langchain-tool.ts';
import { mastraAdapter } from './adapters/mastra-tool.ts';
import { governedCall } from './governed-call.ts';
import type { GovernedToolOptions } from './governed-options.ts';
import type { GovernedSession } from './session.ts';

/** The most particular shape first: a Mastra tool has an AI SDK tool's members and an id. */
const ADAPTERS: readonly ToolAdapter[] = [langchainAdapter, mastraAdapter, aiSdkAdapter];

/** A tool of the same kind as `tool`. Throws ERR_CONFIG when its shape is not known or the description is not well formed. */
export function governTool<T extends object>(session: GovernedSession, tool: T, options: GovernedToolOptions): T {
  const { foreign, govern } = enterTool(tool);
  const governed = adoptTool(foreign, options, session.options.purpose);
  // The copy has the prototype and every member of the tool that was given.
  return govern((invocation) => governedCall(session, governed, invocation)) as T;
}

/** A tool as whoever stands between it and its program needs it. */
export interface EnteredTool {
  readonly foreign: ForeignTool;
  /** A copy of the tool whose calls go through this. */
  readonly govern: (govern: Govern) => object;
  /** A call that no program makes. */
  readonly plainRun: (
    args: JsonArguments,
    signal: AbortSignal,
  ) => Promise<{ readonly returned: unknown; readonly observed: unknown }>;
}

/** Throws ERR_CONFIG when its shape is not known. */
export function enterTool(tool: object): EnteredTool {
  for (const adapter of ADAPTERS) {
    const foreign = adapter.read(tool);
    if (foreign === undefined) continue;
    const govern = (by: Govern): object => adapter.govern(tool, by);
    return { foreign, govern, plainRun: (args, signal) => runPlain(govern, args, signal) };
  }
  throw new CaseOpsError(
    'ERR_CONFIG',
    'Expected a tool of LangChain (name, schema, invoke), Mastra (id, inputSchema, execute) or the AI SDK (inputSchema, execute).',
    { at: 'runtime' },
  );
}

/** Enters the copy at its own door, so that the adapter says how the tool is called and what it returned. */
async function runPlain(
  govern: EnteredTool['govern'],
  args: JsonArguments,
  signal: AbortSignal,
): Promise<{ readonly returned: unknown; readonly observed: unknown }> {
  const copy = govern(async (invocation) => {
    const returned = await invocation.run(args, signal);
    return { returned, observed: invocation.observed(returned) };
  });
  const door = member(copy, 'invoke') ?? member(copy, 'execute');
  const call = door as (input: unknown, options: object) => Promise<{ returned: unknown; observed: unknown }>;
  return call.call(copy, args, {});
}
