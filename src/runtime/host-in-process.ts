/**
 * A team in the supervisor's own process, for a domain service that is no agent system: its own store, key and policy, no server and no
 * wire, and the very same guards in front of team and tools. Source: DESIGN §2 "two adapters".
 */
import { createSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import { httpAnswer } from '#authority/http-answer.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import { createLeaseExchange } from '#authority/exchange-client.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createTeamSupervisor } from '#execution/team-supervisor.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Store } from '#ports/store.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { createInProcessTransport } from '#protocols/a2a/in-process-transport.ts';
import { createInProcessMcp } from '#protocols/mcp/in-process.ts';
import { createMcpToolHost } from '#protocols/mcp/tool-host.ts';
import { observeRuns } from '#telemetry/run-spans.ts';
import { countRefusals, traceExchange, traceToolHost, traceTools } from '#telemetry/traced-parts.ts';
import { mkdirSync } from 'node:fs';
import { guardOptions, toolPolicy, TOOL_BODY_BYTES_MAX, type TeamWorld } from './team-world.ts';
import { openOwnStore } from './open-store.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import type { ServeTeamOptions } from './serve-team.ts';
import type { TeamMember } from './team-members.ts';
import { loadWorkloadKey } from './workload-key.ts';
import { teamWorkload } from './workloads.ts';

export interface InProcessTeam extends AsyncDisposable {
  readonly member: TeamMember;
  /** Takes up the team's interrupted runs; their lease exchanges need the token endpoint to answer. */
  readonly resume: () => Promise<number>;
}

/** Names that no resolver knows: a lease for one is of no use on any network. */
const audienceOf = (team: string): string => `http://${team}.in-process.invalid/team`;
const toolAudienceOf = (team: string, server: string): string => `http://${team}.in-process.invalid/mcp/${server}`;

interface InProcessOptions extends Pick<ServeTeamOptions, 'directory' | 'trust' | 'key' | 'callLimits'> {
  /** Of the process that it is in. */
  readonly telemetry: Telemetry;
}

export function hostInProcess(team: TeamDefinition, options: InProcessOptions): InProcessTeam {
  const { directory, trust, key, telemetry, callLimits = {} } = options;
  mkdirSync(directory, { recursive: true });
  const stack = new AsyncDisposableStack();
  const signer = key === undefined ? loadWorkloadKey(directory, 'workload') : createSigner(key);
  const world: World = { team, trust, signer, workload: teamWorkload(team.name), telemetry };
  const store = stack.use(openOwnStore(directory, 'runs.db'));
  stack.defer(observeRuns(store, telemetry));
  const toolAudiences = Object.fromEntries(
    team.mcpServers.map(({ name }) => [name, toolAudienceOf(team.name, name)] as const),
  );
  const tools = serveTools(world, { store, toolAudiences });
  stack.defer(() => tools.close());
  const tooling = { servers: toolAudiences, clock: systemClock, fetch: tools.fetch };
  const host = stack.use(createMcpToolHost({ ...tooling, limits: { perServer: callLimits } }));
  const driver = stack.use(createLocalDriver({ store, clock: systemClock, ids: systemIds, owner: world.workload }));
  const audience = audienceOf(team.name);
  const at = { clock: systemClock, ids: systemIds };
  const door = createTeamSupervisor({
    team,
    driver,
    store,
    ...at,
    exchange: traceExchange(
      createLeaseExchange({
        ...at,
        signer,
        issuer: trust.issuer,
        tokenEndpoint: trust.tokenEndpoint,
        clientId: team.name,
      }),
      telemetry,
    ),
    toolHost: traceToolHost(host, telemetry),
    card: {
      team: team.name,
      cardName: team.name,
      cardVersion: team.version,
      protocolVersion: 'in-process',
      verifiedBy: 'in-process',
      cardDigest: digestOf({ name: team.name, version: team.version, contracts: team.skills }),
      interfaces: [{ url: audience, binding: 'INPROCESS' }],
      audience,
      workload: world.workload,
      toolAudiences,
    },
  });
  const policy = createPolicyTable(team.policy);
  const guard = countRefusals(createGuard(guardOptions(world, { boundary: 'a2a', audience, policy })), telemetry);
  const transport = createInProcessTransport({ door, guard, audience, workload: world.workload, toolAudiences });
  return {
    member: {
      team: team.name,
      workload: world.workload,
      publicKey: signer.publicJwk,
      audiences: [audience, ...Object.values(toolAudiences)],
      connect: () => transport,
    },
    resume: () => driver.resume('team'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface World extends TeamWorld {
  readonly telemetry: Telemetry;
}

function serveTools(
  world: World,
  { store, toolAudiences }: { readonly store: Store; readonly toolAudiences: Readonly<Record<string, string>> },
): ReturnType<typeof createInProcessMcp> {
  return createInProcessMcp(
    world.team.mcpServers.map((server) => {
      const audience = toolAudiences[server.name] ?? '';
      const policy = createPolicyTable(toolPolicy(world, server));
      return {
        server: traceTools(server, world.telemetry),
        guard: countRefusals(createGuard(guardOptions(world, { boundary: 'mcp', audience, policy })), world.telemetry),
        audience,
        commitUse: async (record) => ((await store.write([record])).ok ? 'ok' : 'consumed'),
        refuse: httpAnswer,
        bodyBytesMax: TOOL_BODY_BYTES_MAX,
        clock: systemClock,
        telemetry: world.telemetry,
      };
    }),
  );
}
