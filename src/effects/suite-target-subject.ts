/** What an effect target gives to the target suite: the target, its owner as others see it, and a lawful action. */
import type { EffectParameters, EffectTarget } from '#ports/effect-target.ts';

export interface TargetSubject extends AsyncDisposable {
  readonly target: EffectTarget;
  readonly tenant: string;
  /** Exists at the owner before each test, unless the target creates it. */
  readonly resource: string;
  readonly parameters: EffectParameters;
  /** Lawful as well, another effect on the same resource. */
  readonly otherParameters: EffectParameters;
  /** Each is refused before anything happens. */
  readonly invalid: readonly unknown[];
  /** A presentational parameter and a value for it. */
  readonly shown: { readonly name: string; readonly value: string };
  /** Effects under this key, counted by the owner's own means and not by the target. */
  effectCount(idempotencyKey: string): Promise<number>;
  /** Somebody else changes the resource. */
  moveVersion(): Promise<void>;
  /** Changes what the effect left behind, so that it is no longer what was approved. */
  spoil(idempotencyKey: string): Promise<void>;
  /** The next reply of the owner is lost after it applied. Absent: the owner is this process, and only its death loses a reply. */
  readonly loseReply?: () => void;
  /** The owner shows nothing any more. */
  hide(): Promise<void>;
  /** A process over the same owner that runs `runTargetChild`. */
  readonly child: { readonly script: URL; readonly args: readonly string[] };
}
