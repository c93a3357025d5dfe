/**
 * One prohibited send on its way through every layer: a planner that proposes it, the kernel, the issuer, a team behind a real A2A server
 * and a tool behind a real MCP server. A test switches layers off to see that the next one stands by itself.
 */
import { createEmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createLeaseExchange } from '#authority/exchange-client.ts';
import { createGuard } from '#authority/guard.ts';
import type { GuardOptions } from '#authority/guard-options.ts';
import { httpAnswer } from '#authority/http-answer.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import { signCard, verifyCard } from '#authority/card-trust.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { Plan } from '#contracts/plan.ts';
import { createAdmissionQueue } from '#control/admission-queue.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createScriptedPlanner } from '#control/scripted-planner.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { type RunKernel, shippedKernel } from '#drivers/local/run-kernel.ts';
import { createTeamSupervisor } from '#execution/team-supervisor.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { LeaseIssuer } from '#ports/issuer.ts';
import type { Store } from '#ports/store.ts';
import type { PolicyRow, TeamDefinition } from '#ports/team-definition.ts';
import type { TeamDoor } from '#ports/team-door.ts';
import { buildCard } from '#protocols/a2a/card-builder.ts';
import { CARD_PATH } from '#protocols/a2a/card-endpoint.ts';
import { createA2aTransport } from '#protocols/a2a/team-client.ts';
import { INTERFACE_PATHS, serveA2a } from '#protocols/a2a/team-server.ts';
import { createMcpToolHost } from '#protocols/mcp/tool-host.ts';
import { openMcpDoor } from '#protocols/mcp/tool-server.ts';
import { systemClock as clock } from '#runtime/system-clock.ts';
import { systemIds as ids } from '#runtime/system-ids.ts';
import { SUPERVISOR_WORKLOAD, teamWorkload } from '#runtime/workloads.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { GOAL, noticesTeam, PURPOSE, REQUESTER, SEND, sendingPlan, TENANT } from './notices-team.ts';

/** The layers that a test may switch off. */
export type Layer = 'validator' | 'issuer' | 'team' | 'server';

export interface DefenceWorld extends AsyncDisposable {
  /** Runs the goal with the plan that sends, to its end. */
  run(): Promise<RunState>;
  /** How often the notice was really sent. */
  readonly sentCount: () => number;
  /** Leases that were handed out for the send. */
  readonly leaseCount: () => Promise<number>;
}

const ISSUER = 'urn:caseops:issuer:test';
const TOKEN_ENDPOINT = 'https://issuer.test/token';

const GRANT: RootGrant = {
  sub: REQUESTER,
  tenant: TENANT,
  purposes: [PURPOSE],
  // This person may send, in other runs: here the goal prohibits it.
  actions: [SEND],
  may_act: { sub: SUPERVISOR_WORKLOAD },
  roles: ['requester'],
};

/** Opens everything with the layers in `off` blind to the goal's prohibition; each still checks all else. */
export async function openDefence(off: readonly Layer[]): Promise<DefenceWorld> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(openSqliteStore({ path: ':memory:', clock }));
  const keys = { issuer: generateSigner(), supervisor: generateSigner(), team: generateSigner() };
  const audiences = new Set<string>();
  const issuer = createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    signer: keys.issuer,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR_WORKLOAD, clientId: 'supervisor', signer: keys.supervisor },
    audiences: (audience) => audiences.has(audience),
    clients: (clientId) =>
      clientId === 'notices'
        ? { clientId, workload: TEAM, publicJwk: keys.team.publicJwk, audiences: [...audiences] }
        : undefined,
    registry: store,
  });
  const sent: string[] = [];
  const served = await serveNotices({ off, keys, issuer, audiences, stack, sent });
  const kernel = off.includes('validator') ? UNVALIDATED : shippedKernel;
  const driver = stack.use(createLocalDriver({ store, clock, ids, owner: SUPERVISOR_WORKLOAD, kernel }));
  const transport = createA2aTransport({
    team: 'notices',
    cardUrl: served.cardUrl,
    verifyCard: (text) => {
      const verdict = verifyCard(text, [keys.team.publicJwk]);
      return verdict.ok ? { ok: true, thumbprint: verdict.kid } : { ok: false, message: verdict.message };
    },
    binding: 'HTTP+JSON',
    clock,
    controlLease: () => Promise.reject(new Error('No task is read or cancelled here.')),
    fetch,
  });
  const teams = new Map([['notices', transport]]);
  const admission = createAdmissionQueue({ runsInFlightMax: 4, runsInFlightPerTenantMax: 4, queueLengthMax: 4 }, clock);
  admission.open();
  driver.register(
    'central',
    createRunHandlers({
      driver,
      store,
      issuer: off.includes('issuer') ? blindIssuer(issuer) : issuer,
      teams,
      directory: createCapabilityDirectory({
        teams,
        clock,
        ids,
        workloadActions: [SEND],
        policyDigest: digestOf('central policy'),
      }),
      planner: createScriptedPlanner([{ kind: 'plan', plan: sendingPlan }], { clock }),
      grants: () => GRANT,
      clock,
      ids,
      workload: SUPERVISOR_WORKLOAD,
      admission,
    }),
  );
  const owned = stack.move();
  return {
    run: () => runGoal(driver),
    sentCount: () => sent.length,
    leaseCount: () => sendLeases(store),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const TEAM = teamWorkload('notices');

async function runGoal(driver: ReturnType<typeof createLocalDriver>): Promise<RunState> {
  const ref = { tenant: TENANT, runId: ids.next('run') };
  const opened = await driver.deliver(ref, {
    kind: 'receive',
    at: clock.now(),
    actor: REQUESTER,
    origin: { level: 'central', requestedBy: REQUESTER, sessionId: GOAL.sessionId, requestDigest: digestOf('send') },
    statement: GOAL.statement.text,
    language: 'en',
    intake: { kind: 'goal', goal: GOAL },
  });
  if (!opened.ok) throw new Error(opened.error.message);
  return driver.settled(ref, AbortSignal.timeout(30_000));
}

async function sendLeases(store: Store): Promise<number> {
  const [run] = await store.runs({ limit: 1 });
  const leases = run === undefined ? [] : await store.leasesOfRun(TENANT, run.ref.runId);
  return leases.filter(({ actions }) => actions.includes(SEND)).length;
}

/** Takes any plan as it comes. */
const UNVALIDATED: RunKernel = {
  ...shippedKernel,
  decide: (state, command, ref) => {
    if (command.kind !== 'propose' || state === undefined) return shippedKernel.decide(state, command, ref);
    const plan = command.plan as Plan;
    const { snapshotId, skills, cards, teamPolicyDigests } = command.snapshot;
    const body = {
      planId: plan.planId,
      plan,
      planDigest: digestOf(plan),
      snapshotId,
      skills,
      cards,
      teamPolicyDigests,
    };
    return { ok: true, events: [{ kind: 'plan.accepted', body }] };
  },
};

/** Is not told what the goal prohibits. */
function blindIssuer(issuer: LeaseIssuer): LeaseIssuer {
  return { ...issuer, mintWork: (request) => issuer.mintWork({ ...request, prohibitedActions: [] }) };
}

/** Is not told either. */
function blindDoor(door: TeamDoor): TeamDoor {
  return {
    ...door,
    submit: (submission) => door.submit({ ...submission, dispatch: { ...submission.dispatch, forbiddenActions: [] } }),
  };
}

interface TeamParts {
  readonly off: readonly Layer[];
  readonly keys: Readonly<Record<'issuer' | 'supervisor' | 'team', ReturnType<typeof generateSigner>>>;
  readonly issuer: ReturnType<typeof createEmbeddedIssuer>;
  readonly audiences: Set<string>;
  readonly stack: AsyncDisposableStack;
  readonly sent: string[];
}

async function serveNotices(parts: TeamParts): Promise<{ readonly cardUrl: string }> {
  const { off, keys, issuer, audiences, stack } = parts;
  const team = noticesTeam(parts.sent);
  const store = stack.use(openSqliteStore({ path: ':memory:', clock }));
  const tools = await serveTools(team, { ...parts, store });
  const toolAudiences = { notices: tools };
  const driver = stack.use(createLocalDriver({ store, clock, ids, owner: TEAM }));
  const toolHost = stack.use(createMcpToolHost({ servers: toolAudiences, clock }));
  const holder = { signer: keys.team, clock, ids };
  const exchange = createLeaseExchange({
    ...holder,
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    clientId: 'notices',
    fetch: (url, init) => tokenEndpoint(issuer, url, init),
  });
  const server = await serveA2a({ host: '127.0.0.1', port: 0, bodyBytesMax: 200_000, clock }, async (url) => {
    const [rest, rpc] = [url + INTERFACE_PATHS.rest, url + INTERFACE_PATHS.rpc];
    for (const audience of [rest, rpc]) audiences.add(audience);
    const place = { audiences: { rest, rpc }, workload: TEAM, toolAudiences };
    const card: CapabilityCard = {
      team: team.name,
      cardName: team.name,
      cardVersion: team.version,
      protocolVersion: '1.0',
      verifiedBy: keys.team.thumbprint,
      cardDigest: digestOf('own'),
      interfaces: [{ url: rest, binding: 'INPROCESS' }],
      audience: rest,
      workload: TEAM,
      toolAudiences,
    };
    const own = createTeamSupervisor({ team, driver, store, clock, ids, exchange, toolHost, card });
    const guardAt = (audience: string) =>
      guardOf(parts, { boundary: 'a2a', audience, policy: createPolicyTable(team.policy) });
    return {
      door: off.includes('team') ? blindDoor(own) : own,
      card: JSON.stringify(signCard(buildCard(team, place), keys.team)),
      rest: { audience: rest, guard: guardAt(rest) },
      rpc: { audience: rpc, guard: guardAt(rpc) },
      refuse: httpAnswer,
    };
  });
  stack.defer(() => server.close());
  return { cardUrl: server.url + CARD_PATH };
}

/** The MCP server is run by others: its policy lets the team draft, and nothing else. */
async function serveTools(team: TeamDefinition, parts: TeamParts & { readonly store: Store }): Promise<string> {
  const { store, stack, off, audiences } = parts;
  const door = await openMcpDoor({ host: '127.0.0.1', port: 0, path: '/mcp', bodyBytesMax: 65_536 });
  stack.defer(() => door.close());
  audiences.add(door.url);
  const rows: readonly PolicyRow[] = [
    { actor: TEAM, action: 'notices:draft', resourceType: 'notice-draft', purpose: PURPOSE, tenants: [TENANT] },
  ];
  const [server] = team.mcpServers;
  if (server === undefined) throw new Error('The team has no server.');
  const without = off.includes('server') ? ['policy'] : [];
  door.serve({
    server,
    guard: guardOf(parts, { boundary: 'mcp', audience: door.url, policy: createPolicyTable(rows), without }),
    audience: door.url,
    commitUse: async (use) => ((await store.write([use])).ok ? 'ok' : 'consumed'),
    refuse: httpAnswer,
    bodyBytesMax: 65_536,
    clock,
  });
  return door.url;
}

function guardOf(
  { keys }: TeamParts,
  own: Pick<GuardOptions, 'boundary' | 'audience' | 'policy' | 'without'>,
): ReturnType<typeof createGuard> {
  const known = new Map([
    [keys.supervisor.thumbprint, SUPERVISOR_WORKLOAD],
    [keys.team.thumbprint, TEAM],
  ]);
  return createGuard({
    ...own,
    issuers: [{ issuer: ISSUER, keys: [keys.issuer.publicJwk] }],
    clock,
    workloads: (jkt) => known.get(jkt),
  });
}

async function tokenEndpoint(
  issuer: ReturnType<typeof createEmbeddedIssuer>,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = Buffer.from(typeof init.body === 'string' ? init.body : '');
  const answer = await issuer.handleTokenRequest({ method: init.method ?? 'GET', url, headers, body });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}
