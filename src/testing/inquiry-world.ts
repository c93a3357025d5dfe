/** The inquiry case at work: a real store, driver, issuer and control, with teams in memory and a seeded clock. For tests. */
import { createEmbeddedIssuer, type EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { createGuard } from '#authority/guard.ts';
import { generateSigner } from '#authority/es256.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunId } from '#contracts/ids.ts';
import type { RunView } from '#contracts/run-view.ts';
import { createAdmissionQueue, type AdmissionLimits, type AdmissionQueue } from '#control/admission-queue.ts';
import { createApprovalPolicy } from '#control/approval-policy.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import type { EffectParts } from '#control/propose-effect.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createEffectWriter } from '#effects/writer.ts';
import { WRITER_AUDIENCE, type WriterOptions } from '#effects/writer-options.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { explainClaims } from '#evidence/why.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Driver } from '#ports/driver.ts';
import type { Phraser, Planner } from '#ports/model.ts';
import type { Ids } from '#ports/ids.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Signer } from '#ports/signer.ts';
import type { Store } from '#ports/store.ts';
import { withLargeArtifacts } from '#stores/artifacts/large-artifacts.ts';
import { createMemoryArtifacts } from '#stores/artifacts/memory.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import {
  announcementOf,
  INQUIRY_ACTIONS,
  INQUIRY_GRANT,
  INQUIRY_KIND,
  INQUIRY_TEAMS,
  PORTFOLIO_KIND,
  SUPERVISOR,
} from './inquiry-case.ts';
import { NOTICE_KIND } from './notice-case.ts';
import { createScriptedTeam, type Finding, type ScriptedTeam } from './scripted-team.ts';
import { seededClock, type SeededClock } from './seeded-clock.ts';
import { seededIds } from './seeded-ids.ts';

export const INQUIRY_TEXT = 'Why is C-102 held? Draft a notice first; do not send it.';
const START_MS = Date.UTC(2026, 6, 22, 14, 0, 0);

export interface InquiryWorld extends AsyncDisposable {
  readonly clock: SeededClock;
  readonly store: Store;
  readonly driver: Driver<RunState>;
  readonly desk: RunDesk;
  readonly teams: Readonly<Record<string, ScriptedTeam>>;
  readonly admission: AdmissionQueue;
  team(name: string): ScriptedTeam;
  /** Submits and advances time until the run has ended or is blocked. */
  ask(text?: string, grant?: RootGrant): Promise<RunView>;
  /** Advances time until the run has ended or is blocked; fails after 60 s of seeded time. */
  settle(runId: string, grant?: RootGrant): Promise<RunView>;
  state(runId: string): Promise<RunState>;
  /** Advances time until the step is in flight. */
  untilInFlight(runId: string, stepId: string): Promise<RunState>;
}

export interface WorldOptions {
  /** What can be applied; nothing when left out. */
  readonly targets?: (clock: SeededClock) => readonly EffectTarget[];
  readonly planner?: Planner | ((clock: SeededClock) => Planner);
  readonly phraser?: Phraser;
  readonly path?: string;
  /** Where large artifacts go; default in memory. */
  readonly artifacts?: ArtifactStore;
  readonly seed?: string;
  readonly startMs?: number;
  readonly resume?: boolean;
  readonly cardKeptMs?: number;
  readonly admission?: Partial<AdmissionLimits>;
  readonly goalsPerMinuteMax?: number;
}

const ADMISSION: AdmissionLimits = { runsInFlightMax: 100, runsInFlightPerTenantMax: 100, queueLengthMax: 100 };

export async function inquiryWorld(options: WorldOptions = {}): Promise<InquiryWorld> {
  const clock = seededClock(options.startMs ?? START_MS);
  const ids = seededIds(options.seed ?? 'w');
  const store = withLargeArtifacts(
    openSqliteStore({ path: options.path ?? ':memory:', clock }),
    options.artifacts ?? createMemoryArtifacts(),
  );
  const driver = createLocalDriver({ store, clock, ids, owner: SUPERVISOR });
  const keys = { issuer: generateSigner(), own: generateSigner() };
  const issuer = inquiryIssuer(ids, { store, clock, keys });
  const effects = effectParts(options, { driver, store, issuer, clock, ids, keys });
  const teams = Object.fromEntries(
    INQUIRY_TEAMS.map((name) => [
      name,
      createScriptedTeam({ announcement: announcementOf(name), clock, ids, store, find: findingFor }),
    ]),
  );
  const transports = new Map(Object.entries(teams));
  const directory = createCapabilityDirectory({
    teams: transports,
    registered: new Map(INQUIRY_TEAMS.map((name) => [name, announcementOf(name)])),
    clock,
    ids,
    workloadActions: [...INQUIRY_ACTIONS, 'notify:send'],
    policyDigest: digestOf('central policy'),
    effectOffers: effects?.writer.offers ?? [],
    ...(options.cardKeptMs === undefined ? {} : { cardKeptMs: options.cardKeptMs }),
  });
  const planner = typeof options.planner === 'function' ? options.planner(clock) : (options.planner ?? rulesPlanner);
  const admission = createAdmissionQueue({ ...ADMISSION, ...options.admission }, clock);
  store.onCommit((_events, head) => admission.note(head));
  const parts = { driver, store, directory, planner, clock, ids, admission, grants: grantOf };
  driver.register(
    'central',
    createRunHandlers({
      ...parts,
      issuer,
      teams: transports,
      workload: SUPERVISOR,
      effects,
      phraser: options.phraser,
    }),
  );
  if (options.resume === true) await driver.resume('central');
  admission.open();
  const kinds = [NOTICE_KIND, INQUIRY_KIND, PORTFOLIO_KIND];
  const desk = createRunDesk({
    ...parts,
    workload: SUPERVISOR,
    effects,
    intake: createRulesIntake({ kinds, ids }),
    kinds,
    goalsPerMinuteMax: () => options.goalsPerMinuteMax ?? 1_000,
    why: (ref, claim) => explainClaims(store, { ref, claim }),
  });
  return worldOf({ clock, store, driver, desk, teams, admission });
}

/** Mints for the supervisor of the case, to anybody. */
function inquiryIssuer(
  ids: Ids,
  {
    store,
    clock,
    keys,
  }: { readonly store: Store; readonly clock: SeededClock; readonly keys: Readonly<Record<'issuer' | 'own', Signer>> },
): EmbeddedIssuer {
  return createEmbeddedIssuer({
    issuer: 'https://issuer.test',
    tokenEndpoint: 'https://issuer.test/token',
    signer: keys.issuer,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR, clientId: 'supervisor', signer: keys.own },
    audiences: () => true,
    clients: () => undefined,
    registry: store,
  });
}

function effectParts(
  options: WorldOptions,
  parts: Pick<WriterOptions, 'driver' | 'issuer' | 'ids'> & {
    readonly store: Store;
    readonly clock: SeededClock;
    readonly keys: { readonly issuer: Signer; readonly own: Signer };
  },
): EffectParts | undefined {
  if (options.targets === undefined) return undefined;
  const { clock, keys, ...shared } = parts;
  const policy = createApprovalPolicy('test', []);
  const guard = createGuard({
    boundary: 'writer',
    audience: WRITER_AUDIENCE,
    issuers: [{ issuer: 'https://issuer.test', keys: [keys.issuer.publicJwk] }],
    clock,
    workloads: (jkt) => (jkt === keys.own.thumbprint ? SUPERVISOR : undefined),
  });
  const writer = createEffectWriter({
    ...shared,
    clock,
    policy,
    guard,
    targets: options.targets(clock),
    grants: grantOf,
    workload: SUPERVISOR,
  });
  return { writer, policy };
}

function grantOf(subject: string, tenant: string): RootGrant | undefined {
  return [INQUIRY_GRANT, FOREIGN_GRANT].find((grant) => grant.sub === subject && grant.tenant === tenant);
}

export const FOREIGN_GRANT: RootGrant = { ...INQUIRY_GRANT, sub: 'requester@t8', tenant: 't8' };

function worldOf(
  parts: Pick<InquiryWorld, 'clock' | 'store' | 'driver' | 'desk' | 'teams' | 'admission'>,
): InquiryWorld {
  const { clock, driver, desk, store, teams } = parts;
  const settle = async (runId: string, grant = INQUIRY_GRANT): Promise<RunView> => {
    for (let turn = 0; turn < 1_200; turn++) {
      const view = await desk.view(grant, runId);
      if (view.state === 'ended' || view.state === 'blocked') return view;
      await clock.advance(50);
    }
    throw new Error(`run ${runId} did not settle in a minute`);
  };
  const state = async (runId: string): Promise<RunState> => {
    const found = await driver.state({ tenant: 't9', runId: runId as RunId });
    if (found === undefined) throw new Error(`no run ${runId}`);
    return found;
  };
  return {
    ...parts,
    settle,
    team(name) {
      const team = teams[name];
      if (team === undefined) throw new Error(`no team ${name}`);
      return team;
    },
    async ask(text = INQUIRY_TEXT, grant = INQUIRY_GRANT) {
      const request = { text, language: undefined, sessionId: undefined, idempotencyKey: undefined };
      return settle((await desk.submit(grant, request)).view.runId, grant);
    },
    state,
    async untilInFlight(runId, stepId) {
      for (let turn = 0; turn < 400; turn++) {
        const now = await state(runId);
        if (now.steps.get(stepId)?.attempts.at(-1)?.taskId !== undefined && now.inFlight.has(stepId)) return now;
        await clock.advance(5);
      }
      throw new Error(`step ${stepId} of run ${runId} did not start`);
    },
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** What the four teams' records say. */
export function findingFor({ skillId, input }: Dispatch): Finding | undefined {
  const named = input['claim_id'];
  const claimId = typeof named === 'string' ? named : 'C-102';
  if (claimId === 'C-999') return undefined;
  const found: Readonly<Record<string, Finding>> = {
    'resolve-member': {
      data: { member_id: 'm42' },
      anchor: 'member:m42',
      version: 'v3',
      record: { member_id: 'm42', claim_id: claimId },
    },
    'claim-status': {
      data: { cause: 'pending_documents', missing_documents: ['accident_report'] },
      anchor: `claim:${claimId}`,
      version: 'v17',
      record: { claim_id: claimId, status: 'pending_documents', missing: ['accident_report'] },
    },
    'policy-guidance': {
      data: { next_action: 'Ask the member for the report.' },
      anchor: 'policy-rule:motor-7',
      version: 'v2',
      record: { rule_id: 'motor-7', next: 'Ask the member for the report.' },
    },
    'draft-notice': {
      data: { notice_draft: 'D-1' },
      anchor: 'notice-draft:D-1',
      version: 'v1',
      record: { draft_id: 'D-1', body: 'Please send us the report.' },
    },
  };
  return found[skillId];
}
