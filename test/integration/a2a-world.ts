/** Supervisor and claims team over real A2A: real issuer, guards, signed card, store, driver and team supervisor; tools in memory. */
import { verifyCard, signCard } from '#authority/card-trust.ts';
import { createEmbeddedIssuer, type EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createLeaseExchange } from '#authority/exchange-client.ts';
import { createGuard } from '#authority/guard.ts';
import { httpAnswer } from '#authority/http-answer.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { leaseClaims, type RootGrant } from '#contracts/lease.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createTeamSupervisor } from '#execution/team-supervisor.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Guard } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import type { TeamDoor } from '#ports/team-door.ts';
import type { TeamTransport } from '#ports/team-transport.ts';
import { buildCard } from '#protocols/a2a/card-builder.ts';
import { CARD_PATH } from '#protocols/a2a/card-endpoint.ts';
import { createA2aTransport } from '#protocols/a2a/team-client.ts';
import { INTERFACE_PATHS, serveA2a } from '#protocols/a2a/team-server.ts';
import type { Binding } from '#protocols/a2a/wire-error.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { withLargeArtifacts } from '#stores/artifacts/large-artifacts.ts';
import { createMemoryArtifacts } from '#stores/artifacts/memory.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { claimDesk, dispatched, type DeskSetting } from '../../src/testing/claim-desk.ts';
import { createFakeToolHost } from '../../src/testing/fake-tool-host.ts';
import { seededIds } from '../../src/testing/seeded-ids.ts';

const ISSUER = 'https://auth.caseops.test';
const TOKEN_ENDPOINT = `${ISSUER}/token`;
const SUPERVISOR = 'supervisor';
const TEAM_WORKLOAD = 'spiffe://caseops.test/team/claims';
const TOOL_AUDIENCE = 'mcp:claims-db';

export interface A2aWorldSetting extends DeskSetting {
  readonly binding: Binding;
  readonly fetch?: typeof fetch;
  /** The team's database; default in memory. */
  readonly path?: string;
  /** Where its large artifacts go; default in memory. */
  readonly artifacts?: ArtifactStore;
  readonly telemetry?: Telemetry;
  readonly traces?: 'continue' | 'new';
}

/** Dispose it after the test. Time is the machine's: servers, store and driver wait for real. */
export async function a2aWorld(setting: A2aWorldSetting) {
  const clock = systemClock;
  const ids = seededIds('a2a');
  const keys = { issuer: generateSigner(), supervisor: generateSigner(), team: generateSigner() };
  const { team } = claimDesk(setting);
  const database = openSqliteStore({ path: setting.path ?? ':memory:', clock });
  const store = withLargeArtifacts(database, setting.artifacts ?? createMemoryArtifacts());
  const driver = createLocalDriver({ store, clock, ids, owner: TEAM_WORKLOAD });
  const audiences = new Set<string>([TOOL_AUDIENCE]);
  const issuer = createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    signer: keys.issuer,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR, clientId: 'supervisor', signer: keys.supervisor },
    audiences: (audience) => audiences.has(audience),
    clients: (clientId) =>
      clientId === 'team-claims'
        ? { clientId, workload: TEAM_WORKLOAD, publicJwk: keys.team.publicJwk, audiences: [...audiences] }
        : undefined,
    registry: store,
  });
  const workloads = new Map([
    [keys.supervisor.thumbprint, SUPERVISOR],
    [keys.team.thumbprint, TEAM_WORKLOAD],
  ]);
  const guardAt = (audience: string): Guard =>
    createGuard({
      boundary: 'a2a',
      audience,
      issuers: [{ issuer: ISSUER, keys: [keys.issuer.publicJwk] }],
      clock,
      workloads: (jkt) => workloads.get(jkt),
      policy: createPolicyTable(team.policy),
      policyDigest: team.policyDigest,
    });
  const exchange = createLeaseExchange({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    clientId: 'team-claims',
    signer: keys.team,
    clock,
    ids,
    fetch: (url, init) => mounted(issuer, url, init),
  });
  const toolHost = createFakeToolHost({ servers: team.mcpServers, clock, claimsOf });
  const at: { door: TeamDoor | undefined } = { door: undefined };
  const { telemetry, traces } = setting;
  const listening = { host: '127.0.0.1', port: 0, bodyBytesMax: 200_000, clock, telemetry, traces };
  const server = await serveA2a(listening, async (url) => {
    const rest = url + INTERFACE_PATHS.rest;
    const rpc = url + INTERFACE_PATHS.rpc;
    for (const audience of [rest, rpc]) audiences.add(audience);
    const used = setting.binding === 'HTTP+JSON' ? rest : rpc;
    const card: CapabilityCard = {
      team: team.name,
      cardName: team.name,
      cardVersion: team.version,
      protocolVersion: '1.0',
      verifiedBy: keys.team.thumbprint,
      cardDigest: digestOf('own'),
      interfaces: [{ url: used, binding: setting.binding }],
      audience: used,
      workload: TEAM_WORKLOAD,
    };
    at.door = createTeamSupervisor({ team, driver, store, clock, ids, exchange, toolHost, card });
    const place = { audiences: { rest, rpc }, workload: TEAM_WORKLOAD, toolAudiences: { 'claims-db': TOOL_AUDIENCE } };
    return {
      door: at.door,
      card: JSON.stringify(signCard(buildCard(team, place), keys.team)),
      rest: { audience: rest, guard: guardAt(rest) },
      rpc: { audience: rpc, guard: guardAt(rpc) },
      refuse: httpAnswer,
    };
  });
  const grant: RootGrant = {
    sub: 'requester@t9',
    tenant: 't9',
    purposes: ['claim_investigation'],
    actions: ['claims:read', 'claims:write'],
    may_act: { sub: SUPERVISOR },
    roles: ['requester'],
  };
  const audience = server.url + (setting.binding === 'HTTP+JSON' ? INTERFACE_PATHS.rest : INTERFACE_PATHS.rpc);
  const control = (action: string, taskId: string, dispatch: Dispatch): HeldLease =>
    issuer.mintControl({
      grant,
      tenant: 't9',
      runId: dispatch.runId,
      stepId: dispatch.stepId,
      attempt: dispatch.attempt,
      audience,
      action,
      taskId,
      planDigest: dispatch.planDigest,
      policyDigest: team.policyDigest,
    }).lease;
  const transport: TeamTransport = createA2aTransport({
    team: team.name,
    cardUrl: server.url + CARD_PATH,
    verifyCard: (text) => {
      const verdict = verifyCard(text, [keys.team.publicJwk]);
      return verdict.ok ? { ok: true, thumbprint: verdict.kid } : { ok: false, message: verdict.message };
    },
    binding: setting.binding,
    clock,
    controlLease: async (wanted) => control(wanted.action, wanted.taskId, wanted.dispatch),
    fetch: setting.fetch ?? fetch,
  });
  const dispatch = (over: Partial<Dispatch> = {}): Dispatch =>
    dispatched({ deadlineAt: new Date(clock.nowMs() + 20_000).toISOString(), ...over });
  return {
    server,
    transport,
    store,
    toolHost,
    keys,
    audience,
    dispatch,
    control,
    /** Minted and recorded as control does: the row is there before the exchange asks for it. */
    async work(asked: Dispatch): Promise<HeldLease> {
      const skill = team.skills.find(({ skillId }) => skillId === asked.skillId);
      const { lease, row } = issuer.mintWork({
        leaseId: ids.next('lse'),
        grant,
        tenant: 't9',
        runId: asked.runId,
        stepId: asked.stepId,
        attempt: asked.attempt,
        audience,
        detail: {
          locations: [TOOL_AUDIENCE],
          actions: [...asked.actions],
          resources: [...asked.resources],
          datatypes: [...(skill?.datatypes ?? [])],
          purpose: asked.purpose,
          bounds: { claim_id: { exact: 'C-102' } },
        },
        planDigest: asked.planDigest,
        policyDigest: team.policyDigest,
        prohibitedActions: [...asked.forbiddenActions],
        delegationDepthMax: 1,
        use: 'count:4',
        lifetimeS: 120,
      });
      await store.write([{ table: 'lease', row }]);
      return lease;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function claimsOf(lease: HeldLease): ReturnType<typeof leaseClaims.parse> {
  return leaseClaims.parse(JSON.parse(Buffer.from(lease.token.split('.')[1] ?? '', 'base64url').toString()));
}

async function mounted(issuer: EmbeddedIssuer, url: string, init: RequestInit): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = Buffer.from(typeof init.body === 'string' ? init.body : '');
  const answer = await issuer.handleTokenRequest({ method: init.method ?? 'GET', url, headers, body });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}
