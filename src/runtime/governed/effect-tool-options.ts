/** What a program says once to let a tool with an effect be approved, applied once, and recorded. Source: docs/decisions/0010. */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import type { DecideRequest } from '#ports/approval-desk.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { JsonArguments } from './call-arguments.ts';
import type { DevelopmentGrant } from './governed-options.ts';

/** What the owner shows of an effect. */
export interface ShownEffect {
  /** The owner's name for it, such as a message id. */
  readonly reference: string;
  /** RFC 3339; default: when it was read back. */
  readonly appliedAt?: string;
  /** JSON: what the call gives back when the tool itself cannot say it any more. */
  readonly record: unknown;
}

export interface GovernedEffectOptions {
  /** Holds approvals, ledger and log in `effect-<tool>.db`; created when missing. */
  readonly directory: string;
  /** Who asks: a grant that lets `spiffe://caseops.local/supervisor` act, or a development identity. */
  readonly grant: RootGrant | DevelopmentGrant;
  readonly purpose: string;
  /** The one effect action of the tool, such as `notify:send`. */
  readonly action: string;
  /** Which argument names the record that is written: one effect at a time on it. */
  readonly resource: { readonly type: string; readonly argument: string };
  /** Its name in the log: lower case with dashes. Default: the tool's own name. */
  readonly name?: string;
  /** An argument of the tool that is given the idempotency key; no caller may set it. Left out: the tool knows no key. */
  readonly keyArgument?: string;
  /**
   * Tells two effects with equal arguments apart: the same arguments and word are the same effect for ever. Default: the arguments alone.
   */
  readonly occasion?: (args: JsonArguments) => string;
  /** The version of the record now; null when it does not exist. Left out: the record has no version, and none is bound. */
  readonly version?: (resourceId: string, signal: AbortSignal) => Promise<string | null>;
  /**
   * Asks the owner for the effect under the key; undefined: it shows none; throw when it cannot be asked. Left out: an effect whose reply
   * was lost stays in doubt until a person says what became of it.
   */
  readonly readBack?: (key: string, args: JsonArguments, signal: AbortSignal) => Promise<ShownEffect | undefined>;
  /** The owner's "none" is final: nothing under way can still be applied. Default false. */
  readonly absenceIsFinal?: boolean;
  /** Default: one person in the role `approver`, within an hour. */
  readonly policy?: ApprovalPolicy;
  /** How long a call waits for its approval and effect; then it is refused with ERR_APPROVAL_STATE and can be made again. Default: no end. */
  readonly waitMs?: number;
  /** One attempt of the tool. Default 30,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** A decision by somebody who may decide: a grant with the role, or a development identity such as `approver@t9`. */
export type Decider = RootGrant | { readonly as: string };

export interface GovernedEffect<T> extends AsyncDisposable {
  /** Of the same kind as the tool that was given. A call waits for its approval, and gives the tool's result, or the owner's record of it. */
  readonly tool: T;
  /** What waits for a decision. */
  pending(): Promise<readonly ApprovalRow[]>;
  /** Throws as the approval desk does: ERR_APPROVER, ERR_APPROVAL_DIGEST, ERR_APPROVAL_STATE, ERR_APPROVAL_EXPIRED, ERR_APPROVAL_STALE. */
  decide(
    by: Decider,
    decision: Pick<DecideRequest, 'approvalId' | 'digest'> & Partial<DecideRequest>,
  ): Promise<ApprovalRow>;
  /** The ledger, latest change first. */
  effects(): Promise<readonly EffectRow[]>;
  /** Asks the owner about an effect in doubt. */
  reconcile(by: Decider, effectId: string): Promise<EffectRow>;
}
