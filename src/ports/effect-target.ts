/**
 * Where effects happen: a mail outbox, a flag file, somebody's HTTP API. Only the writer (room `effects`) holds one. A target applies
 * what it is given, says what it knows and never guesses: whatever is not certain is `unknown`. One suite (`effects/target-suite.ts`)
 * is run by every target. Source: DESIGN §3.10.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { Tenant } from '#contracts/ids.ts';
import type { Parsed } from './team-definition.ts';

export type EffectJson = EffectAction['parameters'][string];
export type EffectParameters = EffectAction['parameters'];

/** What an idempotency key may be made of. */
export interface KeyFacts {
  readonly tenant: Tenant;
  readonly resource: string;
  readonly expectedVersion: string | null;
  readonly parameters: EffectParameters;
  readonly runId: string;
  readonly stepId: string;
}

export interface ApplyRequest {
  readonly action: EffectAction;
  /** The frozen RFC 8785 bytes of the action: what was approved. */
  readonly bytes: Uint8Array;
  readonly idempotencyKey: string;
  /** To be passed on as the owner's own precondition; null: the resource must not exist yet. */
  readonly expectedVersion: string | null;
}

export type Applied =
  /** The owner said that it is done. The writer reads back all the same. */
  | { readonly outcome: 'applied' }
  /** Certainly nothing was applied. `retryable`: the same request may pass later. */
  | { readonly outcome: 'refused_before'; readonly message: string; readonly retryable: boolean }
  /** The owner refused because the resource is at another version; nothing was applied. */
  | { readonly outcome: 'precondition_failed'; readonly currentVersion: string | null; readonly message: string }
  /** Whatever else, and every error after the first byte was sent. What is thrown counts as this. */
  | { readonly outcome: 'unknown'; readonly message: string };

/** The effect as the owner shows it. */
export interface AppliedEffect {
  /** The owner's name for it, such as a message id; 1 to 256 characters. */
  readonly reference: string;
  /** The resource's version after it; null when the owner keeps none. */
  readonly version: string | null;
  readonly appliedAt: string;
  /** The record that proves it; it becomes evidence of the answer. */
  readonly record: EffectJson;
  /** The result of the step: conforms to the artifact schema of the skill. */
  readonly data: EffectParameters;
}

export type ReadBack =
  | ({ readonly found: 'applied' } & AppliedEffect)
  /** The owner shows no effect under this key; final only when `authoritativeAbsence`. */
  | { readonly found: 'absent' }
  /** The owner cannot be asked now, or does not say. */
  | { readonly found: 'hidden'; readonly message: string };

/** What does not hold after the effect although it was applied. */
export interface PostconditionFinding {
  readonly pointer: string;
  readonly expected: string;
  readonly got: string;
}

export interface LiveRecord {
  /** Null when the resource does not exist. */
  readonly version: string | null;
  readonly record: EffectJson | null;
}

export interface EffectTarget {
  readonly name: string;
  /** The effect action that it applies, such as `notify:send`. */
  readonly action: string;
  /** The part of the resource before its colon. */
  readonly resourceType: string;
  /** The anchor type of the evidence made from a read-back record, such as `sent-notice`. */
  readonly evidenceType: string;
  /** Parameters that are shown to the approver only: neither approved nor applied. */
  readonly presentational: readonly string[];
  /** `owner`: the expected version is checked by the owner in the same step as the effect. `none`: the target is declared weaker. */
  readonly precondition: 'owner' | 'none';
  /** True when the owner's "no such effect" is final: nothing under way can still be applied. */
  readonly authoritativeAbsence: boolean;
  /** Validated and defaulted: unknown or missing parameters are issues; the result is canonical JSON. */
  validate(parameters: unknown): Parsed<EffectParameters>;
  /** The version the request itself names, when it does; it stands instead of the live one and must equal it when applied. */
  expectedVersion?(parameters: EffectParameters): string | undefined;
  /** By default one key per run and step. */
  idempotencyKey?(facts: KeyFacts): string;
  /** The resource as it is now. Throws CaseOpsError when the owner cannot be asked. */
  read(resource: string, tenant: Tenant, signal: AbortSignal): Promise<LiveRecord>;
  /** At most one effect per idempotency key at the owner, however often it is called. */
  apply(request: ApplyRequest, signal: AbortSignal): Promise<Applied>;
  readBack(idempotencyKey: string, action: EffectAction, signal: AbortSignal): Promise<ReadBack>;
  /** Empty: the effect is as it was approved. */
  postcondition(action: EffectAction, applied: AppliedEffect): readonly PostconditionFinding[];
  /** Undoes an applied effect under its own key; absent when it cannot be undone. */
  compensate?(
    undo: { readonly action: EffectAction; readonly applied: AppliedEffect; readonly idempotencyKey: string },
    signal: AbortSignal,
  ): Promise<Applied>;
}
