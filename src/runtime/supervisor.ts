/** The supervisor's process: store, driver, issuer, teams, run handlers and the desk in front of them. */
import { join } from 'node:path';
import { createEmbeddedIssuer, type EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { type AdmissionQueue, createAdmissionQueue } from '#control/admission-queue.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { WRITER_AUDIENCE } from '#effects/writer-options.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { explainClaims } from '#evidence/why.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { RetentionDesk } from '#ports/retention-desk.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Store } from '#ports/store.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { logFailure } from '#telemetry/log-failure.ts';
import { observeRuns } from '#telemetry/run-spans.ts';
import { traceTransport } from '#telemetry/traced-parts.ts';
import type { TelemetryConfig } from './telemetry-config.ts';
import { openStore, type StoreChoice } from './open-store.ts';
import type { CaseDefinition } from './define-case.ts';
import type { CaseOpsOptions, RunningTeam } from './create-case-ops.ts';
import { goalsPerMinuteOf, limitsOf } from './limits.ts';
import { absentTeam, registeredTeam } from './registered-team.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import { startTeamChild, type TeamChild } from './team-children.ts';
import { a2aMember, childMember, type GrantLookup, type TeamMember } from './team-members.ts';
import { trustOf } from './deployment-trust.ts';
import { openEffects } from './supervisor-effects.ts';
import { openInboxes } from './supervisor-inboxes.ts';
import { hostInProcess } from './host-in-process.ts';
import type { CallLimits } from './call-limits.ts';
import type { CaseOpsConfig } from './config.ts';
import type { KeyRing } from './key-ring.ts';
import { openRetention } from './retention.ts';
import type { Trust } from './team-config.ts';
import { ISSUER, SUPERVISOR_WORKLOAD } from './workloads.ts';

export interface SupervisorOptions extends Pick<
  CaseOpsOptions,
  'planner' | 'phraser' | 'withoutTeams' | 'limits' | 'inProcessTeams' | 'remoteTeams'
> {
  readonly case: CaseDefinition;
  readonly directory: string;
  /** Of the HTTP edge, which has the token endpoint. */
  readonly url: string;
  readonly store: StoreChoice;
  /** Undefined: where the kind of store has its own place. */
  readonly artifacts: ArtifactStore | undefined;
  readonly keys: KeyRing;
  readonly retention: CaseOpsConfig['retention'];
  readonly callLimits: CallLimits;
  readonly grants: GrantLookup;
  readonly telemetry: Telemetry;
  /** What the teams are told of it. */
  readonly configured: TelemetryConfig;
}

export interface Supervisor extends AsyncDisposable {
  readonly desk: RunDesk;
  readonly retention: RetentionDesk;
  readonly issuer: EmbeddedIssuer;
  readonly teams: readonly RunningTeam[];
  /** Takes up runs that an earlier process left open; returns how many. */
  readonly resume: () => Promise<number>;
}

/** A team that a crowded machine starts slowly is not one that is broken. */
const TEAM_START_MS_MAX = 45_000;
const CLIENT_ID = 'supervisor';

export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { directory, keys, grants, telemetry } = options;
  await using stack = new AsyncDisposableStack();
  const store = stack.use(
    await openStore(directory, 'caseops.db', { choice: options.store, artifacts: options.artifacts }),
  );
  stack.defer(observeRuns(store, telemetry));
  const trust = trustOf(keys, options.url);
  const { children, inProcess, members } = await openTeams(options, { trust, stack });
  const issuer = openIssuer(options, { members, store });
  const { teams, registered } = await connectTeams(options, { members, issuer });
  const time = { clock: systemClock, ids: systemIds };
  // Released after the driver, which may still be applying something.
  const targets = stack.use(new AsyncDisposableStack());
  const driver = stack.use(openDriver(store, telemetry));
  const { admission, goalsPerMinuteMax } = openAdmission(options, { store, stack });
  const shared = { admission, driver, store, teams, ...time, workload: SUPERVISOR_WORKLOAD, grants };
  const effects = await openEffects({ case: options.case, directory, keys, stack: targets }, { ...shared, issuer });
  const capabilities = createCapabilityDirectory({
    effectOffers: effects?.writer.offers ?? [],
    teams,
    registered,
    ...time,
    workloadActions: options.case.workloadActions,
    policyDigest: digestOf(options.case.workloadActions),
  });
  // A team that stops answering later is still known by name, so that its step fails instead of not being planned.
  await Promise.all(members.map(({ team }) => capabilities.find(team, AbortSignal.timeout(TEAM_START_MS_MAX))));
  const planner = options.planner ?? rulesPlanner;
  const loop = { ...shared, issuer, directory: capabilities, planner, phraser: options.phraser, effects };
  driver.register('central', createRunHandlers(loop));
  const desk = createRunDesk({
    ...shared,
    directory: capabilities,
    planner,
    effects,
    kinds: options.case.goalKinds,
    goalsPerMinuteMax,
    intake: createRulesIntake({ kinds: options.case.goalKinds, ids: systemIds }),
    why: (ref, claim) => explainClaims(store, { ref, claim }),
  });
  const owned = stack.move();
  return {
    desk,
    retention: openRetention({ store, directory, config: options.retention }),
    issuer,
    teams: children.map((child) => ({ name: child.team, pid: child.pid, url: child.ready.url })),
    resume: async () => {
      await Promise.all(inProcess.map((team) => team.resume()));
      await openInboxes({ ...options, stack: targets }, store);
      return driver.resume('central').finally(admission.open);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function openAdmission(
  options: SupervisorOptions,
  { store, stack }: { readonly store: Store; readonly stack: AsyncDisposableStack },
): { readonly admission: AdmissionQueue; readonly goalsPerMinuteMax: (tenant: string) => number } {
  const limits = limitsOf(options.limits);
  const admission = createAdmissionQueue(limits, systemClock);
  stack.defer(store.onCommit((_events, head) => admission.note(head)));
  return { admission, goalsPerMinuteMax: (tenant) => goalsPerMinuteOf(limits, tenant) };
}

/** Teams of their own processes, teams in this one, and teams of others. */
async function openTeams(options: SupervisorOptions, parts: TeamStartParts) {
  const { directory, keys } = options;
  const { trust, stack } = parts;
  const children = await startTeams(options, parts);
  const inProcess = (options.inProcessTeams ?? []).map((team) =>
    stack.use(
      hostInProcess(team, {
        directory: join(directory, 'teams', team.name),
        trust,
        key: keys.team(team.name),
        telemetry: options.telemetry,
        callLimits: options.callLimits,
      }),
    ),
  );
  const members: readonly TeamMember[] = [
    ...children.map(childMember),
    ...(options.remoteTeams ?? []).map(a2aMember),
    ...inProcess.map(({ member }) => member),
  ];
  return { children, inProcess, members };
}

/** How each team is reached, and what was registered of those that are left out. */
async function connectTeams(
  options: SupervisorOptions,
  by: { readonly members: readonly TeamMember[]; readonly issuer: EmbeddedIssuer },
) {
  const { grants, telemetry } = options;
  const registered = new Map(
    await Promise.all(
      (options.withoutTeams ?? []).map(async (team) => [team, await registeredTeam(options, team)] as const),
    ),
  );
  const teams = new Map([
    ...by.members.map((member) => {
      const transport = member.connect({ issuer: by.issuer, grants });
      return [member.team, traceTransport(transport, telemetry)] as const;
    }),
    ...[...registered.keys()].map((team) => [team, absentTeam(team)] as const),
  ]);
  return { teams, registered };
}

function openDriver(store: Store, telemetry: Telemetry): ReturnType<typeof createLocalDriver> {
  return createLocalDriver({
    store,
    clock: systemClock,
    ids: systemIds,
    owner: SUPERVISOR_WORKLOAD,
    onError: (error, at) => logFailure(telemetry, error, at),
  });
}

interface IssuerParts {
  readonly members: readonly TeamMember[];
  readonly store: Store;
}

/** Knows the writer, and the audiences and keys of exactly the teams that take part. */
function openIssuer({ url, keys }: SupervisorOptions, { members, store }: IssuerParts): EmbeddedIssuer {
  const known = new Set([WRITER_AUDIENCE, ...members.flatMap(({ audiences }) => audiences)]);
  const clients = new Map(
    members.map(({ team, workload, publicKey, audiences }) => [
      team,
      { clientId: team, workload, publicJwk: publicKey, audiences },
    ]),
  );
  return createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: `${url}/token`,
    signer: keys.issuer,
    clock: systemClock,
    ids: systemIds,
    supervisor: { workload: SUPERVISOR_WORKLOAD, clientId: CLIENT_ID, signer: keys.supervisor },
    audiences: (audience) => known.has(audience),
    clients: (clientId) => clients.get(clientId),
    registry: store,
  });
}

interface TeamStartParts {
  readonly trust: Trust;
  readonly stack: AsyncDisposableStack;
}

/** All teams at once; when one fails, those that started are ended with the stack. */
async function startTeams(options: SupervisorOptions, { trust, stack }: TeamStartParts): Promise<readonly TeamChild[]> {
  const wanted = Object.keys(options.case.teams).filter((team) => !(options.withoutTeams ?? []).includes(team));
  const started = await Promise.allSettled(
    wanted.map(async (team) =>
      stack.use(
        await startTeamChild({
          team,
          caseModule: options.case.module,
          directory: join(options.directory, 'teams', team),
          trust,
          key: options.keys.team(team),
          callLimits: options.callLimits,
          startMsMax: TEAM_START_MS_MAX,
          telemetry: options.configured,
        }),
      ),
    ),
  );
  return started.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}
