/**
 * Serves a team: its own store, key and policy; each of its MCP servers on a port of its own behind a guard; one A2A server in front.
 * Source: DESIGN §2 "A team process has its own store, keys and policy".
 */
import { mkdirSync } from 'node:fs';
import { signCard } from '#authority/card-trust.ts';
import { createLeaseExchange } from '#authority/exchange-client.ts';
import { createGuard } from '#authority/guard.ts';
import { httpAnswer } from '#authority/http-answer.ts';
import { createSigner } from '#authority/es256.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createTeamSupervisor } from '#execution/team-supervisor.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Driver } from '#ports/driver.ts';
import type { Store } from '#ports/store.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { buildCard } from '#protocols/a2a/card-builder.ts';
import { A2A_VERSION } from '#protocols/a2a/protocol-version.ts';
import { CARD_PATH } from '#protocols/a2a/card-endpoint.ts';
import { INTERFACE_PATHS, serveA2a, type ServedTeam as DescribedTeam } from '#protocols/a2a/team-server.ts';
import { createMcpToolHost } from '#protocols/mcp/tool-host.ts';
import { openMcpDoor, type McpDoor } from '#protocols/mcp/tool-server.ts';
import { logFailure } from '#telemetry/log-failure.ts';
import { observeRuns } from '#telemetry/run-spans.ts';
import { countRefusals, traceExchange, traceToolHost, traceTools } from '#telemetry/traced-parts.ts';
import { openOwnStore } from './open-store.ts';
import { openTelemetry } from './open-telemetry.ts';
import type { CallLimits } from './call-limits.ts';
import { onRememberedPort, readPorts, writePorts } from './ports-file.ts';
import type { ServedTeam, ServeTeamOptions } from './serve-team.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import { guardOptions, toolPolicy, TOOL_BODY_BYTES_MAX, type TeamWorld } from './team-world.ts';
import { loadWorkloadKey } from './workload-key.ts';
import { teamWorkload } from './workloads.ts';

const HOST = '127.0.0.1';
const A2A_BODY_BYTES_MAX = 1_048_576;

/** What serveTeam does, with everything that it needs loaded. */
export async function hostTeam(team: TeamDefinition, options: ServeTeamOptions): Promise<ServedTeam> {
  const { directory, trust, host = HOST } = options;
  mkdirSync(directory, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const signer = options.key === undefined ? loadWorkloadKey(directory, 'workload') : createSigner(options.key);
  const configured = options.telemetry ?? {};
  const telemetry = stack.use(await openTelemetry(configured, `caseops-team-${team.name}`));
  const workload = teamWorkload(team.name);
  const { callLimits = {} } = options;
  const ports = readPorts(directory);
  const world: World = { team, trust, host, signer, workload, ports, telemetry, callLimits };
  const store = stack.use(openOwnStore(directory, 'runs.db'));
  stack.defer(observeRuns(store, telemetry));
  const doors = await openToolServers(world, store, stack);
  const toolAudiences = Object.fromEntries(doors.map(({ name, door }) => [name, door.url]));
  const driver = stack.use(
    createLocalDriver({
      store,
      clock: systemClock,
      ids: systemIds,
      owner: world.workload,
      onError: (error, at) => logFailure(telemetry, error, at),
    }),
  );
  const served = await onRememberedPort(world.ports['a2a'], (port) =>
    serveA2a(
      { host, port, bodyBytesMax: A2A_BODY_BYTES_MAX, clock: systemClock, telemetry, traces: configured.traces },
      (url) => describeTeam(world, { url, store, driver, toolAudiences, stack }),
    ),
  );
  stack.defer(() => served.close());
  writePorts(directory, {
    a2a: portOf(served.url),
    ...Object.fromEntries(doors.map(({ name, door }) => [`mcp:${name}`, portOf(door.url)])),
  });
  const recoveredRunCount = await driver.resume('team');
  const owned = stack.move();
  return {
    url: served.url,
    cardUrl: `${served.url}${CARD_PATH}`,
    publicKey: signer.publicJwk,
    audiences: [
      `${served.url}${INTERFACE_PATHS.rest}`,
      `${served.url}${INTERFACE_PATHS.rpc}`,
      ...Object.values(toolAudiences),
    ],
    recoveredRunCount,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Description {
  readonly url: string;
  readonly store: Store;
  readonly driver: Driver<RunState>;
  readonly toolAudiences: Readonly<Record<string, string>>;
  readonly stack: AsyncDisposableStack;
}

/** Card, door and guards of a team, once its URL is known. */
async function describeTeam(world: World, at: Description): Promise<DescribedTeam> {
  const { team, trust, signer, workload, telemetry } = world;
  const { url, store, driver, toolAudiences, stack } = at;
  const rest = `${url}${INTERFACE_PATHS.rest}`;
  const rpc = `${url}${INTERFACE_PATHS.rpc}`;
  const signed = signCard(buildCard(team, { audiences: { rest, rpc }, workload, toolAudiences }), signer);
  const host = stack.use(
    createMcpToolHost({ servers: toolAudiences, clock: systemClock, limits: { perServer: world.callLimits } }),
  );
  const toolHost = traceToolHost(host, telemetry);
  const holder = { signer, clock: systemClock, ids: systemIds };
  const door = createTeamSupervisor({
    team,
    driver,
    store,
    clock: systemClock,
    ids: systemIds,
    exchange: traceExchange(
      createLeaseExchange({
        ...holder,
        issuer: trust.issuer,
        tokenEndpoint: trust.tokenEndpoint,
        clientId: team.name,
      }),
      telemetry,
    ),
    toolHost,
    card: ownCard(world, { signed, rest, toolAudiences }),
  });
  const policy = createPolicyTable(team.policy);
  const guarded = (audience: string) => ({
    audience,
    guard: countRefusals(createGuard(guardOptions(world, { boundary: 'a2a', audience, policy })), telemetry),
  });
  return { door, card: JSON.stringify(signed), rest: guarded(rest), rpc: guarded(rpc), refuse: httpAnswer };
}

interface World extends TeamWorld {
  readonly callLimits: CallLimits;
  readonly host: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly telemetry: Telemetry;
}

interface OpenedServer {
  readonly name: string;
  readonly door: McpDoor;
}

/** Each MCP server takes leases of the team's own workload, for its own audience, under its own policy. */
async function openToolServers(
  world: World,
  store: Store,
  stack: AsyncDisposableStack,
): Promise<readonly OpenedServer[]> {
  const opened: OpenedServer[] = [];
  for (const server of world.team.mcpServers) {
    const door = await onRememberedPort(world.ports[`mcp:${server.name}`], (port) =>
      openMcpDoor({ host: world.host, port, path: '/mcp', bodyBytesMax: TOOL_BODY_BYTES_MAX }),
    );
    stack.defer(() => door.close());
    door.serve({
      server: traceTools(server, world.telemetry),
      guard: countRefusals(
        createGuard(
          guardOptions(world, {
            boundary: 'mcp',
            audience: door.url,
            policy: createPolicyTable(toolPolicy(world, server)),
          }),
        ),
        world.telemetry,
      ),
      audience: door.url,
      commitUse: async (record) => ((await store.write([record])).ok ? 'ok' : 'consumed'),
      refuse: httpAnswer,
      bodyBytesMax: TOOL_BODY_BYTES_MAX,
      clock: systemClock,
      telemetry: world.telemetry,
    });
    opened.push({ name: server.name, door });
  }
  return opened;
}

/** As the team names itself in the plans of its own runs. */
function ownCard(
  { team, signer, workload }: World,
  at: {
    readonly signed: Readonly<Record<string, unknown>>;
    readonly rest: string;
    readonly toolAudiences: Readonly<Record<string, string>>;
  },
): CapabilityCard {
  return {
    team: team.name,
    cardName: team.name,
    cardVersion: team.version,
    protocolVersion: A2A_VERSION,
    verifiedBy: signer.thumbprint,
    cardDigest: digestOf(at.signed),
    interfaces: [{ url: at.rest, binding: 'INPROCESS' }],
    audience: at.rest,
    workload,
    toolAudiences: { ...at.toolAudiences },
  };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
