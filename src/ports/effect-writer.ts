/**
 * The one writer as control sees it: control says what a step asks for and when, the writer alone touches targets. It reports back by
 * commands to the run. Source: DESIGN §3.10.
 */
import type { RunRef, Todo } from '#contracts/command.ts';
import type { EffectAction } from '#contracts/effect-action.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { EffectId, StepId } from '#contracts/ids.ts';
import type { EffectJson, EffectParameters } from './effect-target.ts';

/** A kind of effect that can be applied in this deployment: skills whose effect actions are all offered are available. */
export interface EffectOffer {
  readonly action: string;
  readonly resourceType: string;
  readonly target: string;
}

/** What a step asks for; parameters are untrusted. */
export interface ActionRequest {
  readonly ref: RunRef;
  readonly stepId: StepId;
  readonly requestedBy: string;
  readonly action: string;
  readonly resource: string;
  readonly parameters: unknown;
}

export type PreparedAction =
  | {
      readonly ok: true;
      /** Validated and defaulted, with the live version unless the request names one itself. */
      readonly action: EffectAction;
      readonly presentational: EffectParameters;
      readonly before: EffectJson | null;
      readonly liveVersion: string | null;
    }
  | { readonly ok: false; readonly error: ErrorRecord };

/** What a look at the owner found. `open`: nobody can tell; it stays in doubt. */
export type Reconciled = 'applied' | 'absent' | 'open';

export interface EffectWriter {
  readonly offers: readonly EffectOffer[];
  /** Reads, applies nothing. ERR_EFFECT_PARAMETERS, ERR_EFFECT_TARGET (retryable when the owner cannot be asked). */
  prepare(request: ActionRequest, signal: AbortSignal): Promise<PreparedAction>;
  /**
   * When the key of the action has an effect of another run with the same content, settles the step with that record and returns true.
   * Throws ERR_IDEMPOTENCY_KEY_REUSED for other content, ERR_EFFECT_LOCKED when the other's outcome stays open.
   */
  replay(
    ref: RunRef,
    at: { readonly stepId: StepId; readonly action: EffectAction },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Applies an approved effect, or finds out what became of one that was begun. Called again after a crash. */
  apply(ref: RunRef, todo: Extract<Todo, { kind: 'applyEffect' }>, signal: AbortSignal): Promise<void>;
  /** Asks the owner about an effect in doubt. ERR_NOT_FOUND, ERR_STATE when it is not in doubt. */
  reconcile(ref: RunRef, effectId: EffectId, signal: AbortSignal): Promise<Reconciled>;
  /** Undoes an applied effect, for a person. ERR_STATE when it was not applied, ERR_EFFECT_REFUSED when it cannot be undone. */
  compensate(
    ref: RunRef,
    undo: { readonly effectId: EffectId; readonly by: string; readonly reason: string },
    signal: AbortSignal,
  ): Promise<void>;
}
