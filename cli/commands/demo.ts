/** `caseops demo`: four team processes, the C-102 question, the answer with numbered evidence, one chain, and a page that stays. */
import type { RunView, WhyView } from 'caseops';
import { CASES, caseNamed } from '../cases.ts';
import { createClient } from '../client.ts';
import { EXIT, exitOfRun } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { interrupted } from '../interrupt.ts';
import { startServer } from '../local-server.ts';
import { hint, print, tone } from '../output.ts';
import { renderRun } from '../render-run.ts';
import { renderWhy } from '../render-why.ts';

export async function demo(options: {
  readonly once?: boolean;
  readonly case: string;
  readonly port: number;
  readonly without: string;
}): Promise<number> {
  const stop = interrupted();
  const name = caseNamed(options.case);
  const { question, claim, next } = CASES[name];
  hint('Starting the teams, each in a process of its own …');
  await using system = await startServer({
    case: name,
    port: options.port,
    without: options.without.split(',').filter((team) => team !== ''),
  });
  for (const team of system.teams) hint(`  ${team.name.padEnd(14)} process ${team.pid}  ${team.url}`);
  const [account = ''] = Object.keys(system.tokens);
  const client = createClient(system.url, system.tokens[account] ?? '');
  const { runId } = await client.post<RunView>('/runs', { text: question, language: 'en' });
  const run = await follow(client, runId, stop);
  print(renderRun(run));
  const shown = run.claims.find(({ key }) => key === claim) ?? run.claims[0];
  if (shown !== undefined) {
    const [why] = await client.get<readonly WhyView[]>(`/runs/${runId}/why?claim=${shown.key}`);
    if (why !== undefined) print(`\n${tone('strong', 'Why can we say this?')}\n${renderWhy(why)}`);
  }
  if (options.once === true || stop.aborted) return exitOfRun(run);
  const command = process.env['npm_lifecycle_event'] === 'start' ? 'npm run -s caseops --' : 'caseops';
  hint(`
The page: ${tone('accent', system.pageLink(account, `/runs/${runId}`), process.stderr)}

In another terminal, next:
${next(runId)
  .map((line) => `  ${command} ${line}`)
  .join('\n')}
Ctrl-C ends the teams.`);
  await new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  return EXIT.ok;
}
