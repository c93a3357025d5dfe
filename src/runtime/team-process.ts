/** Entry of a team's process: waits for its parent's one message, serves the team, ends when the parent does. */
import { toErrorRecord } from '#contracts/error.ts';
import { join } from 'node:path';
import { loadCase } from './load-case.ts';
import { serveTeam, type ServedTeam } from './serve-team.ts';
import { systemClock } from './system-clock.ts';
import { teamStart, type TeamReady } from './team-config.ts';

let served: ServedTeam | undefined;

process.once('message', (raw) => {
  void start(raw).catch((error: unknown) => {
    const { code, message } = toErrorRecord(error, { code: 'ERR_TEAM_FAILED', at: 'runtime' });
    process.send?.({ kind: 'failed', code, message }, () => process.exit(1));
    if (process.send === undefined) process.exit(1);
  });
});
process.once('disconnect', () => void end());
process.once('SIGTERM', () => void end());
process.once('SIGINT', () => undefined);

async function start(raw: unknown): Promise<void> {
  const told = teamStart.parse(raw);
  const definition = await loadCase(told.caseModule);
  const load = Object.hasOwn(definition.teams, told.team) ? definition.teams[told.team] : undefined;
  if (load === undefined) throw new Error(`case ${definition.name} has no team ${told.team}`);
  const factory = await load();
  const team = factory({ directory: join(told.directory, 'records'), now: () => systemClock.now() });
  const { directory, trust, key, callLimits, telemetry } = told;
  served = await serveTeam(team, { directory, trust, key, callLimits, telemetry });
  const ready: TeamReady = {
    kind: 'ready',
    url: served.url,
    cardUrl: served.cardUrl,
    publicKey: served.publicKey,
    audiences: [...served.audiences],
    recoveredRunCount: served.recoveredRunCount,
  };
  process.send?.(ready);
}

async function end(): Promise<void> {
  await served?.[Symbol.asyncDispose]();
  process.exit(0);
}
