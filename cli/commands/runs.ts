/** `caseops runs ls|show|watch|cancel|migrate`. */
import type { RunSummary, RunView } from 'caseops';
import { viewOf } from '../client.ts';
import { EXIT, exitOfRun } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { interrupted } from '../interrupt.ts';
import { withServer } from '../local-server.ts';
import { print, printJson, printLines, table, type Format } from '../output.ts';
import { renderRun, renderSteps } from '../render-run.ts';
import { printRun } from './ask.ts';

interface Options {
  readonly as: string;
  readonly output: Format;
}

export async function runsList(
  options: Options & { readonly limit: number; readonly result?: string; readonly state?: string },
): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const query = new URLSearchParams({ limit: String(options.limit) });
    if (options.result !== undefined) query.set('result', options.result);
    if (options.state !== undefined) query.set('state', options.state);
    const runs = await client.get<readonly RunSummary[]>(`/runs?${query.toString()}`);
    if (options.output === 'json') printJson(runs);
    else if (options.output === 'jsonl') printLines(runs);
    else
      print(
        table([
          ['run', 'status', 'kind', 'about', 'asked by', 'started'],
          ...runs.map((run) => [
            run.runId,
            run.result ?? run.state,
            run.kind,
            run.subject,
            run.requestedBy,
            run.startedAt,
          ]),
        ]),
      );
    return EXIT.ok;
  });
}

export async function runsShow(runId: string, options: Options): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const run = await viewOf(client, runId);
    if (options.output === 'table') print(`${renderRun(run)}\n\n${renderSteps(run)}`);
    else printRun(run, options.output);
    return EXIT.ok;
  });
}

export async function runsWatch(runId: string, options: Options): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const run = await follow(client, runId, interrupted());
    printRun(run, options.output);
    return exitOfRun(run);
  });
}

export async function runsCancel(runId: string, options: Options & { readonly reason: string }): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const run = await client.post<RunView>(`/runs/${encodeURIComponent(runId)}/cancel`, { reason: options.reason });
    printRun(run, options.output);
    return EXIT.ok;
  });
}

/** Moves a run to the contracts that are offered now; without it, it finishes under those it was planned with. */
export async function runsMigrate(
  runId: string,
  options: Options & { readonly reason: string; readonly to: string },
): Promise<number> {
  const { reason, to } = options;
  return withServer({ as: options.as, without: [] }, async (client) => {
    const run = await client.post<RunView>(`/runs/${encodeURIComponent(runId)}/migrate`, { reason, to });
    printRun(run, options.output);
    return EXIT.ok;
  });
}
