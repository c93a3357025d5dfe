/** `caseops effects ls|show|reconcile`: what was applied, what is in doubt, and finding that out. */
import { CaseOpsError, type EffectRow } from 'caseops';
import { EXIT } from '../exit-codes.ts';
import { withServer } from '../local-server.ts';
import { type Format, show } from '../output.ts';
import { effectLine, effectText } from '../render-approval.ts';

interface Asking {
  readonly as: string;
  readonly output: Format;
}

export async function effectsList(
  options: Asking & { readonly state?: string; readonly run?: string; readonly limit: number },
): Promise<number> {
  const query = new URLSearchParams({ limit: String(options.limit) });
  if (options.state !== undefined) query.set('state', options.state);
  if (options.run !== undefined) query.set('run', options.run);
  return withServer({ as: options.as, without: [] }, async (client) => {
    const rows = await client.get<readonly EffectRow[]>(`/effects?${query.toString()}`);
    show(rows, options.output, () => (rows.length === 0 ? 'Nothing was applied.' : rows.map(effectLine).join('\n')));
    return 0;
  });
}

export async function effectsShow(id: string, options: Asking): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const row = await client.get<EffectRow>(`/effects/${encodeURIComponent(id)}`);
    show(row, options.output, () => effectText(row));
    return 0;
  });
}

/** Exit 9 while it stays in doubt. */
export async function effectsReconcile(
  id: string,
  options: Asking & { readonly finding?: string; readonly reason?: string },
): Promise<number> {
  if (options.finding !== undefined && (options.reason ?? '').trim() === '')
    throw new CaseOpsError('ERR_USAGE', 'What a person found out is said with --reason TEXT.', { at: 'cli' });
  return withServer({ as: options.as, without: [] }, async (client) => {
    const body = {
      ...(options.finding === undefined ? {} : { finding: options.finding }),
      reason: options.reason ?? null,
    };
    const row = await client.post<EffectRow>(`/effects/${encodeURIComponent(id)}/reconcile`, body);
    show(row, options.output, () => effectText(row));
    return row.state === 'unknown' || row.state === 'in_progress' ? EXIT.waiting : EXIT.ok;
  });
}
