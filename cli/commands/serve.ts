/** `caseops serve`: the runtime, its teams, API and page, until Ctrl-C. Open runs of an earlier process are taken up again. */
import { CASES, caseNamed } from '../cases.ts';
import { EXIT } from '../exit-codes.ts';
import { interrupted } from '../interrupt.ts';
import { startServer } from '../local-server.ts';
import { hint, print } from '../output.ts';

export async function serve(options: {
  readonly case: string;
  readonly port: number;
  readonly without: string;
}): Promise<number> {
  const name = caseNamed(options.case);
  const stop = interrupted();
  await using system = await startServer({
    case: name,
    port: options.port,
    without: options.without.split(',').filter((team) => team !== ''),
  });
  print(`CaseOps listens at ${system.url}`);
  for (const team of system.teams) hint(`  ${team.name.padEnd(14)} process ${team.pid}  ${team.url}`);
  if (system.recoveredRunCount > 0) hint(`  ${system.recoveredRunCount} interrupted runs are going on`);
  hint(`  page: ${system.pageLink(Object.keys(system.tokens)[0] ?? '', '/')}`);
  const at = name === 'claims' ? '' : `--case ${name} `;
  hint(`  next: caseops ask ${at}"${CASES[name].question}"   (Ctrl-C ends)`);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  return EXIT.interrupted;
}
