/** `caseops serve`: the runtime, its teams, API and page, until Ctrl-C. Open runs of an earlier process are taken up again. */
import { EXIT } from '../exit-codes.ts';
import { interrupted } from '../interrupt.ts';
import { startServer } from '../local-server.ts';
import { hint, print } from '../output.ts';

export async function serve(options: { readonly port: number; readonly without: string }): Promise<number> {
  const stop = interrupted();
  await using system = await startServer({
    port: options.port,
    without: options.without.split(',').filter((team) => team !== ''),
  });
  print(`CaseOps listens at ${system.url}`);
  for (const team of system.teams) hint(`  ${team.name.padEnd(14)} process ${team.pid}  ${team.url}`);
  if (system.recoveredRunCount > 0) hint(`  ${system.recoveredRunCount} interrupted runs are going on`);
  hint(`  page: ${system.pageLink('requester@t9', '/')}`);
  hint('  next: caseops ask "Why has C-102 not been completed?"   (Ctrl-C ends)');
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  return EXIT.interrupted;
}
