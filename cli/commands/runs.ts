/** `caseops runs ls|show|watch|cancel|resolve|replan|migrate`. */
import type { RunSummary, RunView } from 'caseops';
import { viewOf } from '../client.ts';
import { EXIT, exitOfRun } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { interrupted } from '../interrupt.ts';
import { withServer } from '../local-server.ts';
import { print, printJson, printLines, table, type Format } from '../output.ts';
import { readPlan } from '../plan-file.ts';
import { renderArrivals, renderRun, renderSteps } from '../render-run.ts';
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
    if (options.output === 'table')
      print([renderRun(run), renderSteps(run), renderArrivals(run)].filter((part) => part !== '').join('\n\n'));
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

/** Says which of a step's contradicting results holds. */
export async function runsResolve(
  runId: string,
  stepId: string,
  options: Options & { readonly held: string; readonly reason: string },
): Promise<number> {
  const { held, reason } = options;
  return withServer({ as: options.as, without: [] }, async (client) => {
    const body = { stepId, held, reason };
    const run = await client.post<RunView>(`/runs/${encodeURIComponent(runId)}/resolve`, body);
    printRun(run, options.output);
    return EXIT.ok;
  });
}

/** Takes another plan while the run is running: a file's, or what the planner proposes now. */
export async function runsReplan(
  runId: string,
  options: Options & { readonly plan?: string; readonly reason: string },
): Promise<number> {
  const { plan, reason } = options;
  const given = plan === undefined ? {} : { plan: readPlan(plan) };
  return withServer({ as: options.as, without: [] }, async (client) => {
    const run = await client.post<RunView>(`/runs/${encodeURIComponent(runId)}/replan`, { reason, ...given });
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
