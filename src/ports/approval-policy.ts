/** Who must approve which action: roles, quorum, how long a request stands, and what the policy itself approves. Source: DESIGN §3.10. */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { Digest } from '#contracts/ids.ts';
import type { PlanStep } from '#contracts/plan.ts';

export interface ApprovalTerms {
  readonly role: string;
  /** 1 unless the step asks for a quorum. */
  readonly quorumCount: number;
  readonly expiresInMs: number;
  /** For a step whose approval is `policy`: the reason why the policy approves this action; undefined: a person decides. */
  readonly approves: string | undefined;
}

export interface ApprovalPolicy {
  readonly name: string;
  /** Of the whole policy, RFC 8785. A decision under another digest is stale. */
  readonly digest: Digest;
  /** The role of those who may decide such actions, and clear up what became of them. */
  reviewerRole(action: string): string;
  terms(action: EffectAction, approval: PlanStep['approval']): ApprovalTerms;
}
