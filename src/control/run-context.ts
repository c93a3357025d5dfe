/** What the parts of the central run loop share: the ports they reach the world through. */
import type { ErrorRecord } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { LeaseIssuer } from '#ports/issuer.ts';
import type { Phraser, Planner } from '#ports/model.ts';
import type { Store } from '#ports/store.ts';
import type { TeamTransport } from '#ports/team-transport.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { CapabilityDirectory } from './capability-directory.ts';
import type { EffectParts } from './propose-effect.ts';
import type { LeaseBook } from './lease-book.ts';

export interface RunContext {
  readonly driver: Driver<RunState>;
  readonly store: Store;
  readonly issuer: LeaseIssuer;
  readonly teams: ReadonlyMap<string, TeamTransport>;
  readonly directory: CapabilityDirectory;
  readonly planner: Planner;
  /** Undefined: answers are given in the goal's own words. */
  readonly phraser?: Phraser | undefined;
  /** The root grant of a person; undefined when they may do nothing any more. */
  readonly grants: (subject: string, tenant: string) => RootGrant | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Workload identity of the supervisor: the actor of its commands. */
  readonly workload: string;
  readonly leases: LeaseBook;
  /** The same one that the desk has. */
  readonly admission: AdmissionQueue;
  readonly plannerTimeoutMs: number;
  /** Undefined: this deployment applies no effects, and effect skills are unavailable. */
  readonly effects?: EffectParts | undefined;
}

/** A refusal by control, as it is recorded. */
export function controlError(
  code: ErrorRecord['code'],
  kind: ErrorRecord['kind'],
  said: { readonly message: string; readonly retryable?: boolean; readonly at?: string },
): ErrorRecord {
  return {
    code,
    kind,
    message: said.message.slice(0, 2_000),
    at: said.at ?? 'control',
    retryable: said.retryable ?? kind === 'unavailable',
  };
}
