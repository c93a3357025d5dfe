/** How execution calls a tool. Six outcomes, kept apart. Source: PROTOCOLS "MCP". */
import type { Digest } from '#contracts/ids.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import type { HeldLease } from './issuer.ts';

export interface ToolFacts {
  readonly protocolRevision: string;
  readonly serverVersion: string;
  readonly startedAt: string;
  readonly endedAt: string;
}

export type ToolOutcome = ToolFacts &
  (
    | { readonly outcome: 'ok'; readonly output: unknown; readonly resultDigest: Digest }
    /** The tool answered that it failed, under our error schema; or its result broke the contract: `code` says which. */
    | { readonly outcome: 'tool_error'; readonly code: string; readonly message: string }
    | {
        readonly outcome: 'contract_violation';
        readonly code: 'ERR_TOOL_OUTPUT_SCHEMA' | 'ERR_TOOL_CONTRACT_DRIFT' | 'ERR_TOOL_RESULT_TYPE';
        readonly message: string;
      }
    | { readonly outcome: 'throttled'; readonly retryAfterMs: number }
    | { readonly outcome: 'cancelled'; readonly reason: 'aborted' | 'deadline' | 'lease_revoked' }
    | { readonly outcome: 'refused'; readonly code: string; readonly boundary: string; readonly message: string }
    | { readonly outcome: 'unknown_outcome'; readonly message: string }
  );

export interface ToolHost extends AsyncDisposable {
  /** The audience of leases for a server: its URL, or its name on message transports. */
  audience(server: string): string;
  call(
    contract: ToolContract,
    args: Readonly<Record<string, unknown>>,
    lease: HeldLease,
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
  /** Compares what a server lists with the pinned contracts under a control lease; throws ERR_TOOL_CONTRACT_DRIFT. */
  verify(contracts: readonly ToolContract[], lease: HeldLease, signal: AbortSignal): Promise<void>;
}
