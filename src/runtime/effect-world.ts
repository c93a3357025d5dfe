/**
 * A supervisor for effects alone, in this process: store, driver, issuer, guard, control, desk and writer as in a deployment, with teams and
 * targets given from outside. For drills and campaigns, which open, stop and reopen it on one database. Source: DESIGN §3.10, LAB "Drills".
 */
import { createEmbeddedIssuer, type EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { createAdmissionQueue } from '#control/admission-queue.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createEffectWriter } from '#effects/writer.ts';
import { WRITER_AUDIENCE, type WriterOptions } from '#effects/writer-options.ts';
import { explainClaims } from '#evidence/why.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { Ids } from '#ports/ids.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Signer } from '#ports/signer.ts';
import type { Store } from '#ports/store.ts';
import type { TeamAnnouncement, TeamTransport } from '#ports/team-transport.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { SUPERVISOR_WORKLOAD } from './workloads.ts';

export interface EffectWorldOptions
  extends
    Pick<WriterOptions, 'policy' | 'grants' | 'targets'>,
    Partial<Pick<WriterOptions, 'onPoint' | 'sendTimeoutMs' | 'readBackCountMax' | 'readBackBackoffMs'>> {
  /** The database file: what one world leaves there, the next goes on with. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly kinds: readonly GoalKind[];
  readonly announcements: readonly TeamAnnouncement[];
  readonly transport: (announcement: TeamAnnouncement, store: Store) => TeamTransport;
  /** After how long of silence another world takes a run over. */
  readonly lockTtlMs?: number;
  /** Stands between the parts and the database, to stop the process around a commit. */
  readonly wrapStore?: (store: Store) => Store;
  /** Stands between control and the writer, to deliver a job more than once. */
  readonly wrapWriter?: (writer: EffectWriter) => EffectWriter;
  readonly onError?: (error: ErrorRecord) => void;
}

export interface EffectWorld extends AsyncDisposable {
  readonly desk: RunDesk;
  readonly driver: Driver<RunState>;
  readonly store: Store;
  readonly writer: EffectWriter;
  /** Takes up runs that another world left open; returns how many. */
  resume(): Promise<number>;
}

const ISSUER = 'https://issuer.caseops.internal';
const LIMITS = { runsInFlightMax: 100, runsInFlightPerTenantMax: 100, queueLengthMax: 100 };

/** Issuer and supervisor have fresh keys: a lease of an earlier world is worth nothing in this one. */
export function createEffectWorld(options: EffectWorldOptions): EffectWorld {
  const { clock, ids, kinds, onError } = options;
  const opened = openSqliteStore({ path: options.path, clock });
  const store = options.wrapStore?.(opened) ?? opened;
  const driver = createLocalDriver({
    store,
    clock,
    ids,
    owner: SUPERVISOR_WORKLOAD,
    ...(options.lockTtlMs === undefined ? {} : { lockTtlMs: options.lockTtlMs }),
    ...(onError === undefined ? {} : { onError: (error) => onError(error) }),
  });
  const keys = { issuer: generateSigner(), supervisor: generateSigner() };
  const issuer = openIssuer(options, store, keys);
  const { writer, policy } = openWriter(options, { store, driver, issuer, keys });
  const teams = new Map(options.announcements.map((one) => [one.card.team, options.transport(one, store)]));
  const directory = openDirectory(options, teams, writer);
  const admission = createAdmissionQueue(LIMITS, clock);
  store.onCommit((_events, head) => admission.note(head));
  const effects = { writer, policy };
  const workload = SUPERVISOR_WORKLOAD;
  const parts = {
    driver,
    store,
    directory,
    planner: rulesPlanner,
    clock,
    ids,
    admission,
    effects,
    workload,
    grants: options.grants,
  };
  driver.register('central', createRunHandlers({ ...parts, issuer, teams }));
  const desk = createRunDesk({
    ...parts,
    intake: createRulesIntake({ kinds, ids }),
    kinds,
    goalsPerMinuteMax: () => 100_000,
    why: (ref, claim) => explainClaims(store, { ref, claim }),
  });
  admission.open();
  return {
    desk,
    driver,
    store,
    writer,
    resume: () => driver.resume('central'),
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

interface Keys {
  readonly issuer: Signer;
  readonly supervisor: Signer;
}

function openIssuer({ clock, ids }: EffectWorldOptions, store: Store, keys: Keys): EmbeddedIssuer {
  return createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: `${ISSUER}/token`,
    signer: keys.issuer,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR_WORKLOAD, clientId: 'supervisor', signer: keys.supervisor },
    audiences: () => true,
    clients: () => undefined,
    registry: store,
  });
}

function openWriter(
  options: EffectWorldOptions,
  parts: {
    readonly store: Store;
    readonly driver: Driver<RunState>;
    readonly issuer: EmbeddedIssuer;
    readonly keys: Keys;
  },
): { readonly writer: EffectWriter; readonly policy: WriterOptions['policy'] } {
  const { clock, ids, policy, grants, targets, onPoint, sendTimeoutMs, readBackCountMax, readBackBackoffMs } = options;
  const { keys, ...shared } = parts;
  const guard = createGuard({
    boundary: 'writer',
    audience: WRITER_AUDIENCE,
    issuers: [{ issuer: ISSUER, keys: [keys.issuer.publicJwk] }],
    clock,
    workloads: (thumbprint) => (thumbprint === keys.supervisor.thumbprint ? SUPERVISOR_WORKLOAD : undefined),
  });
  const writer = createEffectWriter({
    ...shared,
    clock,
    ids,
    policy,
    grants,
    targets,
    guard,
    workload: SUPERVISOR_WORKLOAD,
    ...(onPoint === undefined ? {} : { onPoint }),
    ...(sendTimeoutMs === undefined ? {} : { sendTimeoutMs }),
    ...(readBackCountMax === undefined ? {} : { readBackCountMax }),
    ...(readBackBackoffMs === undefined ? {} : { readBackBackoffMs }),
  });
  return { writer: options.wrapWriter?.(writer) ?? writer, policy };
}

function openDirectory(
  { announcements, clock, ids }: EffectWorldOptions,
  teams: ReadonlyMap<string, TeamTransport>,
  writer: EffectWriter,
) {
  const workloadActions = announcements.flatMap(({ skills }) => skills.flatMap(({ actions }) => actions));
  return createCapabilityDirectory({
    teams,
    registered: new Map(announcements.map((announcement) => [announcement.card.team, announcement])),
    clock,
    ids,
    workloadActions: [...new Set(workloadActions)],
    policyDigest: digestOf([...new Set(workloadActions)]),
    effectOffers: writer.offers,
  });
}
