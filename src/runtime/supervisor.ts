/** The supervisor's process: store, driver, issuer, teams, run handlers and the desk in front of them. */
import { join } from 'node:path';
import { verifyCard } from '#authority/card-trust.ts';
import type { DevelopmentIssuer } from '#authority/development-issuer.ts';
import { createEmbeddedIssuer, type EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import type { WorkloadClient } from '#authority/issuer-options.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { createAdmissionQueue } from '#control/admission-queue.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { explainClaims } from '#evidence/why.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Signer } from '#ports/signer.ts';
import type { Store } from '#ports/store.ts';
import type { TeamTransport } from '#ports/team-transport.ts';
import { createA2aTransport } from '#protocols/a2a/team-client.ts';
import { openStore } from './open-store.ts';
import type { CaseOpsOptions, RunningTeam } from './create-case-ops.ts';
import { limitsOf } from './limits.ts';
import { absentTeam, registeredTeam } from './registered-team.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import { startTeamChild, type TeamChild } from './team-children.ts';
import { loadWorkloadKey } from './workload-key.ts';
import { ISSUER, SUPERVISOR_WORKLOAD, teamWorkload } from './workloads.ts';

export interface SupervisorOptions extends CaseOpsOptions {
  /** Of the HTTP edge, which has the token endpoint. */
  readonly url: string;
  readonly people: DevelopmentIssuer;
}

export interface Supervisor extends AsyncDisposable {
  readonly desk: RunDesk;
  readonly issuer: EmbeddedIssuer;
  readonly teams: readonly RunningTeam[];
  /** Takes up runs that an earlier process left open; returns how many. */
  readonly resume: () => Promise<number>;
}

const TEAM_START_MS_MAX = 15_000;
const CLIENT_ID = 'supervisor';

export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { directory, people } = options;
  await using stack = new AsyncDisposableStack();
  const keys = {
    issuer: loadWorkloadKey(join(directory, 'keys'), 'issuer'),
    own: loadWorkloadKey(join(directory, 'keys'), 'supervisor'),
  };
  const store = stack.use(openStore(directory, 'caseops.db'));
  const children = await startTeams(options, { keys, stack });
  const issuer = openIssuer(options, { keys, children, store });
  const registered = new Map(
    await Promise.all(
      (options.withoutTeams ?? []).map(async (team) => [team, await registeredTeam(options, team)] as const),
    ),
  );
  const teams = transports(children, { registered: [...registered.keys()], issuer, grants: grantLookup(people) });
  const driver = stack.use(
    createLocalDriver({ store, clock: systemClock, ids: systemIds, owner: SUPERVISOR_WORKLOAD }),
  );
  const limits = limitsOf(options.limits);
  const admission = createAdmissionQueue(limits, systemClock);
  stack.defer(store.onCommit((_events, head) => admission.note(head)));
  const shared = {
    admission,
    driver,
    store,
    teams,
    clock: systemClock,
    ids: systemIds,
    workload: SUPERVISOR_WORKLOAD,
    grants: grantLookup(people),
  };
  const capabilities = createCapabilityDirectory({
    teams,
    registered,
    clock: systemClock,
    ids: systemIds,
    workloadActions: options.case.workloadActions,
    policyDigest: digestOf(options.case.workloadActions),
  });
  // A team that stops answering later is still known by name, so that its step fails instead of not being planned.
  await Promise.all(children.map(({ team }) => capabilities.find(team, AbortSignal.timeout(TEAM_START_MS_MAX))));
  const planner = options.planner ?? rulesPlanner;
  driver.register('central', createRunHandlers({ ...shared, issuer, directory: capabilities, planner }));
  const desk = createRunDesk({
    ...shared,
    directory: capabilities,
    planner,
    kinds: options.case.goalKinds,
    goalsPerMinuteMax: limits.goalsPerMinuteMax,
    intake: createRulesIntake({ kinds: options.case.goalKinds, ids: systemIds }),
    why: (ref, claim) => explainClaims(store, { ref, claim }),
  });
  const owned = stack.move();
  return {
    desk,
    issuer,
    teams: children.map((child) => ({ name: child.team, pid: child.pid, url: child.ready.url })),
    resume: async () => {
      const recoveredRunCount = await driver.resume('central');
      admission.open();
      return recoveredRunCount;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface IssuerParts {
  readonly keys: Keys;
  readonly children: readonly TeamChild[];
  readonly store: Store;
}

/** Knows the audiences and keys of exactly the teams that were started. */
function openIssuer(options: SupervisorOptions, { keys, children, store }: IssuerParts): EmbeddedIssuer {
  const known = new Set(children.flatMap((child) => child.ready.audiences));
  const clients = new Map(children.map((child) => [child.team, clientOf(child)]));
  return createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: `${options.url}/token`,
    signer: keys.issuer,
    clock: systemClock,
    ids: systemIds,
    supervisor: { workload: SUPERVISOR_WORKLOAD, clientId: CLIENT_ID, signer: keys.own },
    audiences: (audience) => known.has(audience),
    clients: (clientId) => clients.get(clientId),
    registry: store,
  });
}

interface Keys {
  readonly issuer: Signer;
  readonly own: Signer;
}

interface TeamStartParts {
  readonly keys: Keys;
  readonly stack: AsyncDisposableStack;
}

/** All teams at once; when one fails, those that started are ended with the stack. */
async function startTeams(options: SupervisorOptions, { keys, stack }: TeamStartParts): Promise<readonly TeamChild[]> {
  const trust = {
    issuer: ISSUER,
    tokenEndpoint: `${options.url}/token`,
    issuerKeys: [keys.issuer.publicJwk],
    supervisorKey: keys.own.publicJwk,
  };
  const wanted = Object.keys(options.case.teams).filter((team) => !(options.withoutTeams ?? []).includes(team));
  const started = await Promise.allSettled(
    wanted.map(async (team) =>
      stack.use(
        await startTeamChild({
          team,
          caseModule: options.case.module,
          directory: join(options.directory, 'teams', team),
          trust,
          startMsMax: TEAM_START_MS_MAX,
        }),
      ),
    ),
  );
  return started.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

function clientOf({ team, ready }: TeamChild): WorkloadClient {
  return { clientId: team, workload: teamWorkload(team), publicJwk: ready.publicKey, audiences: ready.audiences };
}

type GrantLookup = (subject: string, tenant: string) => RootGrant | undefined;

function grantLookup(people: DevelopmentIssuer): GrantLookup {
  return (subject, tenant) => {
    const grant = people.grantFor(subject);
    return grant.tenant === tenant ? grant : undefined;
  };
}

interface TransportParts {
  /** Teams that are known and not running. */
  readonly registered: readonly string[];
  readonly issuer: EmbeddedIssuer;
  readonly grants: GrantLookup;
}

function transports(
  children: readonly TeamChild[],
  { registered, issuer, grants }: TransportParts,
): ReadonlyMap<string, TeamTransport> {
  const running = children.map(({ team, ready }) => {
    const transport = createA2aTransport({
      team,
      cardUrl: ready.cardUrl,
      verifyCard: (text) => {
        const verdict = verifyCard(text, [ready.publicKey]);
        return verdict.ok ? { ok: true, thumbprint: verdict.kid } : { ok: false, message: verdict.message };
      },
      binding: 'HTTP+JSON',
      clock: systemClock,
      controlLease: async ({ action, audience, taskId, contextId, dispatch }) => {
        const grant = grants(dispatch.subject, dispatch.tenant);
        if (grant === undefined)
          throw new CaseOpsError('ERR_DENIED', `${dispatch.subject} may not read this task any more.`, {
            at: 'runtime',
          });
        const { runId, stepId, attempt, planDigest, tenant } = dispatch;
        return issuer.mintControl({
          grant,
          tenant,
          runId,
          stepId,
          attempt,
          audience,
          action,
          taskId,
          contextId,
          planDigest,
          policyDigest: planDigest,
        }).lease;
      },
      fetch,
    });
    return [team, transport] as const;
  });
  return new Map([...running, ...registered.map((team) => [team, absentTeam(team)] as const)]);
}
