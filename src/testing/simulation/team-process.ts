/** A simulated team: the real driver, supervisor, workers, guards and exchange on the team's own store, behind the network. */
import { createLeaseExchange } from '#authority/exchange-client.ts';
import { createGuard } from '#authority/guard.ts';
import type { WorkloadClient } from '#authority/issuer-options.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { shippedKernel } from '#drivers/local/run-kernel.ts';
import { createTeamSupervisor } from '#execution/team-supervisor.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Guard } from '#ports/guard.ts';
import type { LeaseExchange } from '#ports/issuer.ts';
import type { McpServerDefinition, PolicyRow, TeamDefinition } from '#ports/team-definition.ts';
import type { TeamAnnouncement } from '#ports/team-transport.ts';
import { createInProcessTransport } from '#protocols/a2a/in-process-transport.ts';
import { toolPolicy } from '#runtime/team-world.ts';
import { SUPERVISOR_WORKLOAD, teamWorkload } from '#runtime/workloads.ts';
import { beginLife, type ProcessLife } from './process-life.ts';
import { processStore } from './process-store.ts';
import { simulatedTokenFetch, simulatedTools } from './simulated-tools.ts';
import { ISSUER, TOKEN_ENDPOINT, type TeamProcess, type World } from './world.ts';

/** Starts one; it takes over what is open, and starts anew when that fails. */
export function startTeam(world: World, team: TeamDefinition): void {
  const { ids, variant } = world;
  const role = team.name;
  const life = beginLife();
  const clock = life.clock(world.time);
  const store = processStore(world, { role, life, store: world.stores.team(role) });
  const announced = world.announcements.get(role) ?? announcementOf(team);
  const driver = createLocalDriver({
    store,
    clock,
    ids,
    owner: announced.card.workload,
    lockTtlMs: world.lockTtlMs,
    kernel: variant.kernel?.(shippedKernel) ?? shippedKernel,
  });
  const servers = team.mcpServers.map((server) => variant.toolServer?.(server) ?? server);
  const guards = new Map(servers.map((server) => [server.name, toolGuard(world, { team, server, life })]));
  const door = createTeamSupervisor({
    team,
    driver,
    store,
    clock,
    ids,
    exchange: exchangeOf(world, { team: role, life }),
    toolHost: simulatedTools(world, {
      team: role,
      life,
      store,
      servers,
      audienceOf: (server) => toolAudience(role, server),
      guardOf: (server) => guards.get(server),
    }),
    card: announced.card,
  });
  const transport = createInProcessTransport({
    door,
    guard: guardOf(world, { team, life, boundary: 'a2a', audience: announced.card.audience, rows: team.policy }),
    audience: announced.card.audience,
    workload: announced.card.workload,
    toolAudiences: announced.card.toolAudiences ?? {},
  });
  const process: TeamProcess = { life, transport };
  world.teamProcesses.set(role, process);
  life.onDeath(() => {
    if (world.teamProcesses.get(role) === process) world.teamProcesses.delete(role);
  });
  driver.resume('team').catch(() => world.crash(role, life, 500));
}

const audienceOf = (team: string): string => `http://${team}.in-process.invalid/team`;
const toolAudience = (team: string, server: string): string => `http://${team}.in-process.invalid/mcp/${server}`;

/** What an operator registered of the team; the same as it announces. */
export function announcementOf(team: TeamDefinition): TeamAnnouncement {
  const { name, version } = team;
  const audience = audienceOf(name);
  return {
    card: {
      team: name,
      cardName: name,
      cardVersion: version,
      protocolVersion: 'in-process',
      verifiedBy: 'in-process',
      cardDigest: digestOf({ name, version, contracts: team.skills }),
      interfaces: [{ url: audience, binding: 'INPROCESS' }],
      audience,
      workload: teamWorkload(name),
      toolAudiences: Object.fromEntries(
        team.mcpServers.map((server) => [server.name, toolAudience(name, server.name)]),
      ),
    },
    skills: team.skills,
    policyDigest: team.policyDigest,
  };
}

/** The team as the issuer knows it. */
export function teamPeer({ keys }: World, { name }: TeamDefinition): WorkloadClient {
  const { publicJwk } = keys.of(name);
  return { clientId: name, workload: teamWorkload(name), publicJwk, audiences: [audienceOf(name)] };
}

function exchangeOf(world: World, by: { readonly team: string; readonly life: ProcessLife }): LeaseExchange {
  const { team, life } = by;
  const exchange = createLeaseExchange({
    signer: world.keys.of(team),
    clock: life.clock(world.time),
    ids: world.ids,
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    clientId: team,
    fetch: simulatedTokenFetch(world, by),
  });
  const told: LeaseExchange = {
    exchange: async (request, signal) => {
      const held = await exchange.exchange(request, signal);
      world.witness.leased({ life, leaseId: held.leaseId, parentId: request.parent.leaseId });
      return held;
    },
  };
  return world.variant.exchange?.(told, world.variantMemory) ?? told;
}

function toolGuard(
  world: World,
  of: { readonly team: TeamDefinition; readonly server: McpServerDefinition; readonly life: ProcessLife },
): Guard {
  const { team, server, life } = of;
  const workload = teamWorkload(team.name);
  const rows = toolPolicy({ team, workload }, server);
  return guardOf(world, { team, life, boundary: 'mcp', audience: toolAudience(team.name, server.name), rows });
}

function guardOf(
  world: World,
  of: {
    readonly team: TeamDefinition;
    readonly life: ProcessLife;
    readonly boundary: 'a2a' | 'mcp';
    readonly audience: string;
    readonly rows: readonly PolicyRow[];
  },
): Guard {
  const { team, life, boundary, audience, rows } = of;
  const { keys } = world;
  const known = new Map([
    [keys.of('supervisor').thumbprint, SUPERVISOR_WORKLOAD],
    [keys.of(team.name).thumbprint, teamWorkload(team.name)],
  ]);
  return createGuard({
    boundary,
    audience,
    issuers: [{ issuer: ISSUER, keys: [keys.of('issuer').publicJwk] }],
    clock: life.clock(world.time),
    workloads: (jkt) => known.get(jkt),
    policy: createPolicyTable(rows),
    policyDigest: team.policyDigest,
    verifier: keys.verifier,
  });
}
