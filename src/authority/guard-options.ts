/** What a guard is made of. */
import type { Digest } from '#contracts/ids.ts';
import type { Clock } from '#ports/clock.ts';
import type { GuardBoundary } from '#ports/guard.ts';
import type { PolicyDecisionPoint } from '#ports/policy.ts';
import type { Verifier } from '#ports/signer.ts';
import type { PinnedIssuer } from './lease-token.ts';
import type { ReplayWindow } from './replay-window.ts';

/** A use of authority, for the kill switches. */
interface KillSwitchQuestion {
  readonly tenant: string;
  readonly actors: readonly string[];
  readonly action: string;
  readonly audience: string;
}

export interface GuardOptions {
  readonly boundary: GuardBoundary;
  /** The one audience under which this boundary is addressed. */
  readonly audience: string;
  readonly issuers: readonly PinnedIssuer[];
  readonly clock: Clock;
  /** The workload pinned for a key thumbprint; undefined: an unknown workload, refused. */
  readonly workloads: (jkt: string) => string | undefined;
  /** This boundary's own policy, asked for work. Undefined: the lease alone decides. */
  readonly policy?: PolicyDecisionPoint | undefined;
  /** The policy digest that a lease must have been minted under. Undefined: not compared. */
  readonly policyDigest?: Digest | undefined;
  /** True for an actor whose authority is suspended, at any place of the chain. */
  readonly suspendedActor?: ((actor: string) => boolean) | undefined;
  /** The name of the switch that is on for this use; undefined when none is. */
  readonly killSwitch?: ((question: KillSwitchQuestion) => string | undefined) | undefined;
  /** Proofs already seen; guards of one audience may share one. */
  readonly replayWindow?: ReplayWindow | undefined;
  /**
   * For the authority lab only, which removes one step at a time to show that its cases notice. A guard in service has none; the
   * runtime never sets it.
   */
  readonly without?: readonly string[] | undefined;
  /** Other signatures than ES256, for the simulator only: the runtime never sets it. */
  readonly verifier?: Verifier | undefined;
}
