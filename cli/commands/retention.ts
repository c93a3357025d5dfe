/** `caseops retention run`, `caseops erase`: what is due or asked for, counted; with `--yes` taken out. */
import type { RetentionReport } from 'caseops';
import { EXIT } from '../exit-codes.ts';
import { withServer } from '../local-server.ts';
import { hint, print, printJson, printLines, table, type Format } from '../output.ts';

interface Options {
  readonly tenant?: string;
  readonly as: string;
  readonly yes?: boolean;
  readonly output: Format;
}

export async function retentionRun(options: Options): Promise<number> {
  return asked('/retention', { apply: options.yes === true }, options);
}

export async function erase(options: Options & { readonly subject: string; readonly reason: string }): Promise<number> {
  const { subject, reason } = options;
  return asked('/erasures', { subject, reason, apply: options.yes === true }, options);
}

async function asked(path: string, body: unknown, options: Options): Promise<number> {
  // Whoever erases does it in one tenant, as one of its people.
  const as = options.tenant === undefined ? options.as : `${options.as.split('@')[0] ?? ''}@${options.tenant}`;
  return withServer({ as, without: [] }, async (client) => {
    const report = await client.post<RetentionReport>(path, body);
    if (options.output === 'json') printJson(report);
    else if (options.output === 'jsonl') printLines([report]);
    else {
      print(rendered(report));
      if (!report.applied) hint('\nNothing was changed. With --yes this is erased for good.');
    }
    return EXIT.ok;
  });
}

function rendered(report: RetentionReport): string {
  const rows = report.stores.map((one) =>
    [one.store, one.runCount, one.artifactRunCount, one.artifactCount, one.openRunCount, one.kept.length].map(String),
  );
  const kept = report.stores.flatMap((one) => one.kept.map(({ runId, why }) => `  ${one.store} ${runId}: ${why}`));
  const title = `${report.applied ? 'Erased' : 'Would be erased'} in tenant ${report.tenant}`;
  return [
    title,
    table([['store', 'runs', 'runs, artifacts only', 'artifacts', 'open, untouched', 'kept'], ...rows]),
    ...(kept.length === 0 ? [] : ['Kept:', ...kept]),
  ].join('\n');
}
