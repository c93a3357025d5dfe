/** `caseops ask`: submit, watch, print the answer; the exit code is the run's. */
import type { RunView } from 'caseops';
import { caseNamed } from '../cases.ts';
import { exitOfRun } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { interrupted } from '../interrupt.ts';
import { withServer } from '../local-server.ts';
import { hint, print, printJson, printLines, type Format } from '../output.ts';
import { nextCommand, renderRun } from '../render-run.ts';
import { planShow } from './plan.ts';

export interface AskOptions {
  readonly language?: string;
  readonly planOnly?: boolean;
  readonly session?: string;
  readonly idempotencyKey?: string;
  readonly case: string;
  readonly as: string;
  readonly without: string;
  readonly output: Format;
}

export async function ask(text: string, options: AskOptions): Promise<number> {
  if (options.planOnly === true) return planShow(text, options);
  const without = options.without.split(',').filter((team) => team !== '');
  return withServer({ as: options.as, case: caseNamed(options.case), without }, async (client) => {
    const submitted = await client.post<RunView>(
      '/runs',
      {
        text,
        ...(options.language === undefined ? {} : { language: options.language }),
        ...(options.session === undefined ? {} : { sessionId: options.session }),
      },
      options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey },
    );
    const run = await follow(client, submitted.runId, interrupted());
    printRun(run, options.output);
    return exitOfRun(run);
  });
}

export function printRun(run: RunView, format: Format): void {
  if (format === 'json') printJson(run);
  else if (format === 'jsonl') printLines([run]);
  else {
    print(renderRun(run));
    hint(`\nNext: ${nextCommand(run)}`);
    if (run.sessionId !== null) hint(`A question that follows: caseops ask "…" --session ${run.sessionId}`);
  }
}
