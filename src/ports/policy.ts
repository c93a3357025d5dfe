/** A policy decision point: a table now, Cedar later. Source: CONTRACTS "Identities from the first part". */
import type { Digest } from '#contracts/ids.ts';

export interface PolicyQuestion {
  readonly tenant: string;
  readonly subject: string;
  /** The workload that asks. */
  readonly actor: string;
  readonly action: string;
  readonly resourceType: string;
  readonly purpose: string;
}

export type PolicyAnswer =
  | { readonly permit: true; readonly rule: string }
  | { readonly permit: false; readonly reason: string };

export interface PolicyDecisionPoint {
  /** Of the whole policy, RFC 8785. */
  readonly digest: Digest;
  decide(question: PolicyQuestion): PolicyAnswer;
}
