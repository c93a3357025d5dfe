import type { LeaseClaims } from '#contracts/lease.ts';
import type { ToolEndpoint } from '#ports/team-definition.ts';

/**
 * What the guard permitted for one request. It is handed to the SDK beside the request and read back by identity (`instanceof`), so
 * that nothing a client writes can stand in its place.
 */
export class McpGrant {
  readonly lease: LeaseClaims;
  /** The tools that this request may list, or the one that it may call. */
  readonly tools: readonly ToolEndpoint[];
  /** The span of the request, for the tool. */
  readonly traceparent: string | undefined;
  constructor(lease: LeaseClaims, tools: readonly ToolEndpoint[], traceparent?: string) {
    this.lease = lease;
    this.tools = tools;
    this.traceparent = traceparent;
  }
}
