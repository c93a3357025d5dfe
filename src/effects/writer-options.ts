/** What the writer is made of. */
import type { RootGrant } from '#contracts/lease.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { Guard } from '#ports/guard.ts';
import type { Ids } from '#ports/ids.ts';
import type { LeaseIssuer } from '#ports/issuer.ts';
import type { Store } from '#ports/store.ts';

/** The writer's audience: the one name under which its guard is addressed. */
export const WRITER_AUDIENCE = 'urn:caseops:writer';

/** Where a crash leaves something behind, in the order of the write path. */
export const WRITER_POINTS = [
  'looked_up',
  'live_read',
  'lease_minted',
  'intended',
  'sent',
  'read_back',
  'recorded',
] as const;
export type WriterPoint = (typeof WRITER_POINTS)[number];

export interface WriterOptions {
  readonly driver: Driver<RunState>;
  readonly store: Pick<Store, 'effectByKey' | 'artifact'>;
  /** One per action and resource type; the first that fits is used. */
  readonly targets: readonly EffectTarget[];
  readonly issuer: Pick<LeaseIssuer, 'mintEffect'>;
  /** At the boundary `writer`, addressed as `WRITER_AUDIENCE`. */
  readonly guard: Guard;
  readonly policy: ApprovalPolicy;
  readonly grants: (subject: string, tenant: string) => RootGrant | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Workload identity of the supervisor: the actor of the writer's commands. */
  readonly workload: string;
  /** How long a target may take to answer; after that the outcome is in doubt. */
  readonly sendTimeoutMs?: number;
  /** Looks at the owner before an effect is left in doubt. */
  readonly readBackCountMax?: number;
  readonly readBackBackoffMs?: number;
  /** For tests and drills alone, which stop the process there; the runtime never sets it. */
  readonly onPoint?: (point: WriterPoint) => void | Promise<void>;
}

export type WriterParts = Required<Omit<WriterOptions, 'targets'>> & {
  readonly targetOf: (action: { readonly action: string; readonly resource: string }) => EffectTarget | undefined;
};

const SEND_TIMEOUT_MS = 10_000;
const READ_BACK_COUNT_MAX = 4;
const READ_BACK_BACKOFF_MS = 200;

export function writerParts(options: WriterOptions): WriterParts {
  const { targets, ...rest } = options;
  return {
    ...rest,
    sendTimeoutMs: options.sendTimeoutMs ?? SEND_TIMEOUT_MS,
    readBackCountMax: options.readBackCountMax ?? READ_BACK_COUNT_MAX,
    readBackBackoffMs: options.readBackBackoffMs ?? READ_BACK_BACKOFF_MS,
    onPoint: options.onPoint ?? (() => undefined),
    targetOf: ({ action, resource }) =>
      targets.find((target) => target.action === action && target.resourceType === resource.split(':', 1)[0]),
  };
}
