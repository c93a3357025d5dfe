/**
 * Retention and deletion over every store of a deployment: the supervisor's and its teams'. One run after the other, each in its own
 * transaction: what is cut off in between goes on where it stopped. Implements the port `retention-desk`. Decision 0022.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { ErasureCause, ErasureScope } from '#contracts/erasure.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import { millisOf } from '#kernel/time.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { RetentionDesk, RetentionPolicy, RetentionReport } from '#ports/retention-desk.ts';
import type { RunHead, Store } from '#ports/store.ts';
import { allEvents } from '../run-record.ts';
import { eraseRun, tombstoneOf } from './erase-run.ts';
import { mentions, type Subject, subjectOf } from './subject-mentions.ts';

export interface NamedStore extends AsyncDisposable {
  readonly name: string;
  readonly store: Store;
}

export interface RetentionOptions {
  readonly store: Store;
  /** Opens the stores of the teams of this deployment; they are closed when all have been gone through. */
  readonly teams: () => Promise<readonly NamedStore[]>;
  readonly policyOf: (tenant: string) => RetentionPolicy;
  readonly clock: Clock;
  readonly ids: Ids;
}

const DAY_MS = 86_400_000;
const PAGE_COUNT = 200;
const KEPT_COUNT_MAX = 100;

export function createRetentionDesk(options: RetentionOptions): RetentionDesk {
  return {
    async enforce(grant, { apply }) {
      assertEntitled(grant, apply);
      const policy = options.policyOf(grant.tenant);
      return goThrough(options, { grant, apply, policy, chooser: () => dueBy(options, policy) });
    },
    async forget(grant, { subject: named, reason, apply }) {
      assertEntitled(grant, apply);
      const subject = subjectOf(named);
      if (subject === undefined) throw usage('A subject is type:id, such as member:m42.');
      if (reason.trim() === '') throw usage('An erasure needs a written reason.');
      const parents = new Set<RunId>();
      return goThrough(options, {
        grant,
        apply,
        policy: null,
        chooser: (store) => about(store, { subject, reason, tenant: grant.tenant, parents }),
      });
    },
  };
}

/** What to do with an ended run; undefined: nothing. */
type Chooser = (head: RunHead) => Promise<readonly [ErasureScope, ErasureCause] | undefined>;

interface Going {
  readonly grant: RootGrant;
  readonly apply: boolean;
  readonly policy: RetentionPolicy | null;
  readonly chooser: (store: Store) => Chooser;
}

async function goThrough(options: RetentionOptions, going: Going): Promise<RetentionReport> {
  const stores: RetentionReport['stores'][number][] = [];
  const tombstones: RetentionReport['tombstones'][number][] = [];
  const visit = async (name: string, store: Store): Promise<void> => {
    const found = await goThroughStore(options, { ...going, name, store });
    stores.push(found.report);
    tombstones.push(...found.tombstones);
  };
  // The supervisor's runs first: a team's run goes with the run that asked for it.
  await visit('supervisor', options.store);
  await using opened = new AsyncDisposableStack();
  for (const team of (await options.teams()).map((one) => opened.use(one))) await visit(team.name, team.store);
  const { grant, apply, policy } = going;
  return { applied: apply, tenant: grant.tenant, at: options.clock.now(), policy, stores, tombstones };
}

async function goThroughStore(
  options: RetentionOptions,
  going: Going & { readonly name: string; readonly store: Store },
): Promise<{ readonly report: RetentionReport['stores'][number]; readonly tombstones: RetentionReport['tombstones'] }> {
  const { grant, apply, name, store } = going;
  const choose = going.chooser(store);
  const context = { store, clock: options.clock, ids: options.ids };
  const counts = { runCount: 0, artifactRunCount: 0, artifactCount: 0, openRunCount: 0 };
  const kept: { runId: string; why: string }[] = [];
  const tombstones: RetentionReport['tombstones'][number][] = [];
  for await (const head of headsOf(store, grant.tenant)) {
    const { runId } = head.ref;
    if (head.phase !== 'ended') {
      counts.openRunCount += 1;
      continue;
    }
    const gone = await tombstoneOf(store, head.ref);
    if (gone !== undefined) {
      // Cut off between the transaction and the removal of large bytes, it is finished now.
      if (apply) await store.dropArtifacts(grant.tenant, gone.body.artifacts);
      continue;
    }
    const chosen = await choose(head);
    if (chosen === undefined) continue;
    const [scope, cause] = chosen;
    const erased = await eraseRun(context, { head, scope, cause, by: grant.sub, apply });
    if (erased.kind === 'kept') {
      if (kept.length < KEPT_COUNT_MAX) kept.push({ runId, why: erased.why });
      continue;
    }
    counts[scope === 'run' ? 'runCount' : 'artifactRunCount'] += 1;
    counts.artifactCount += erased.artifactCount;
    if (erased.tombstoneId !== undefined)
      tombstones.push({ store: name, runId, tombstoneId: erased.tombstoneId, scope });
  }
  return { report: { store: name, ...counts, kept }, tombstones };
}

/** Every run of the tenant, newest first, of both levels. */
async function* headsOf(store: Store, tenant: string): AsyncGenerator<RunHead, void, undefined> {
  let before: RunId | undefined;
  for (;;) {
    const page = await store.runs({ tenant, limit: PAGE_COUNT, ...(before === undefined ? {} : { before }) });
    yield* page;
    before = page.at(-1)?.ref.runId;
    if (page.length < PAGE_COUNT) return;
  }
}

/** By the time since the run's last change. The events take the artifacts with them. */
function dueBy({ clock }: RetentionOptions, policy: RetentionPolicy): Chooser {
  const policyDigest = digestOf({ artifactsDays: policy.artifactsDays ?? null, eventsDays: policy.eventsDays ?? null });
  return async ({ updatedAt }) => {
    const ageMs = clock.nowMs() - millisOf(updatedAt);
    const due = (days: number | undefined): days is number => days !== undefined && ageMs >= days * DAY_MS;
    const { artifactsDays, eventsDays } = policy;
    if (due(eventsDays)) return ['run', { kind: 'policy', policyDigest, olderThanDays: eventsDays }];
    if (due(artifactsDays)) return ['artifacts', { kind: 'policy', policyDigest, olderThanDays: artifactsDays }];
    return undefined;
  };
}

/** Runs that mention the subject, and the teams' runs for those. */
function about(
  store: Store,
  of: { readonly subject: Subject; readonly reason: string; readonly tenant: string; readonly parents: Set<RunId> },
): Chooser {
  const { subject, tenant, parents } = of;
  const reason = of.reason.slice(0, 500);
  // Its name is what is to be forgotten: the tombstone says which by a digest that who knows it can make again.
  const subjectDigest = digestOf({ tenant, subject: `${subject.type}:${subject.id}` });
  return async ({ ref }) => {
    const events = await allEvents(store, ref);
    const [first] = events;
    const origin = first?.kind === 'run.received' ? first.body.origin : undefined;
    const asked = origin?.level === 'team' && parents.has(origin.parentRunId);
    if (!asked && !mentions(events, subject)) return undefined;
    parents.add(ref.runId);
    return ['run', { kind: 'request', subjectDigest, reason }];
  };
}

function assertEntitled({ sub, roles }: RootGrant, apply: boolean): void {
  if (roles.includes('custodian') || (!apply && roles.includes('auditor'))) return;
  throw new CaseOpsError(
    'ERR_DENIED',
    `Erasing needs the role custodian, looking what would be erased that or auditor; ${sub} has ${roles.join(', ') || 'none'}.`,
    { at: 'evidence' },
  );
}

function usage(message: string): CaseOpsError {
  return new CaseOpsError('ERR_USAGE', message, { at: 'evidence' });
}
