/**
 * A team that is registered and not running: its contracts are known, so that a plan can name its step; the step then fails by name
 * instead of the plan being impossible.
 */
import { join } from 'node:path';
import { CaseOpsError } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import type { TeamAnnouncement, TeamTransport } from '#ports/team-transport.ts';
import { INTERFACE_PATHS } from '#protocols/a2a/team-server.ts';
import { A2A_VERSION } from '#protocols/a2a/protocol-version.ts';
import type { CaseDefinition } from './define-case.ts';
import { readPorts } from './ports-file.ts';
import { systemClock } from './system-clock.ts';
import { loadWorkloadKey } from './workload-key.ts';
import { teamWorkload } from './workloads.ts';

/** Where a team that never ran would be looked for: a port that nothing on this machine serves. */
const NO_PORT = 9;

/** From its definition and its key; ERR_CONFIG when the case has no such team. */
export async function registeredTeam(
  options: { readonly case: CaseDefinition; readonly directory: string },
  team: string,
): Promise<TeamAnnouncement> {
  const load = Object.hasOwn(options.case.teams, team) ? options.case.teams[team] : undefined;
  if (load === undefined)
    throw new CaseOpsError('ERR_CONFIG', `The case ${options.case.name} has no team ${team}.`, { at: 'runtime' });
  const directory = join(options.directory, 'teams', team);
  const signer = loadWorkloadKey(directory, 'workload');
  const definition = (await load())({ directory: join(directory, 'records'), now: systemClock.now });
  const ports = readPorts(directory);
  const url = `http://127.0.0.1:${ports['a2a'] ?? NO_PORT}${INTERFACE_PATHS.rest}`;
  const toolAudiences = Object.fromEntries(
    definition.mcpServers.map(({ name }) => [name, `http://127.0.0.1:${ports[`mcp:${name}`] ?? NO_PORT}/mcp`]),
  );
  return {
    card: {
      team,
      cardName: definition.name,
      cardVersion: definition.version,
      protocolVersion: A2A_VERSION,
      verifiedBy: signer.thumbprint,
      cardDigest: digestOf({ team, version: definition.version, policy: definition.policyDigest }),
      interfaces: [{ url, binding: 'HTTP+JSON' }],
      audience: url,
      workload: teamWorkload(team),
      toolAudiences,
    },
    skills: definition.skills,
    policyDigest: definition.policyDigest,
  };
}

/** The way to a team that does not run: every request says so. */
export function absentTeam(team: string): TeamTransport {
  const absent = (): never => {
    throw new CaseOpsError('ERR_TEAM_UNREACHABLE', `Team ${team} is not running.`, { at: 'runtime', detail: { team } });
  };
  return {
    team,
    discover: async () => absent(),
    // oxlint-disable-next-line require-yield
    send: async function* () {
      absent();
    },
    cancel: async () => 'unknown',
  };
}
