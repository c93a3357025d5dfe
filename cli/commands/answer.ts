/** `caseops answer RUN --input name=value`: one validated event that clears a block. */
import { CaseOpsError, type RunView } from 'caseops';
import { exitOfRun } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { interrupted } from '../interrupt.ts';
import { withServer } from '../local-server.ts';
import type { Format } from '../output.ts';
import { printRun } from './ask.ts';

export async function answer(
  runId: string,
  options: { readonly input: readonly string[]; readonly as: string; readonly output: Format },
): Promise<number> {
  const input = Object.fromEntries(options.input.map(pair));
  return withServer({ as: options.as, without: [] }, async (client) => {
    await client.post<RunView>(`/runs/${encodeURIComponent(runId)}/answer`, { input });
    const run = await follow(client, runId, interrupted());
    printRun(run, options.output);
    return exitOfRun(run);
  });
}

function pair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CaseOpsError('ERR_USAGE', `Expected --input name=value, got ${JSON.stringify(text)}.`, { at: 'cli' });
}
