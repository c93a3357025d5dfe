import type { HeldLease } from '#ports/issuer.ts';
import type { CallToolResult, Tool } from '@modelcontextprotocol/client';

/** One call in flight. */
export interface LeasedCall {
  readonly lease: HeldLease;
  /** True once the request may have reached the server. */
  sent: boolean;
}

export interface LinkCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly definition: Tool;
  readonly signal: AbortSignal;
}

/** The way to one server over one transport. Rejects with what `failureOf` judges. */
export interface ServerLink {
  /** Audience of the server's leases: its URL, or its name on message transports. */
  readonly audience: string;
  call(leased: LeasedCall, call: LinkCall): Promise<CallToolResult>;
  /** Discovers the server and lists its tools, past any cache, under a control lease. */
  list(leased: LeasedCall, signal: AbortSignal): Promise<readonly Tool[]>;
  close(): Promise<void>;
}
