/** `caseops why RUN[#claim]`: claim → evidence → data version → tool call → worker → A2A task → lease, a verdict per link. */
import type { WhyView } from 'caseops';
import { runAndClaim } from '../client.ts';
import { EXIT } from '../exit-codes.ts';
import { withServer } from '../local-server.ts';
import { print, printJson, printLines, type Format } from '../output.ts';
import { renderWhy } from '../render-why.ts';

export async function why(
  reference: string,
  options: { readonly as: string; readonly output: Format },
): Promise<number> {
  const { runId, claim } = runAndClaim(reference);
  return withServer({ as: options.as, without: [] }, async (client) => {
    const query = claim === undefined ? '' : `?claim=${encodeURIComponent(claim)}`;
    const views = await client.get<readonly WhyView[]>(`/runs/${encodeURIComponent(runId)}/why${query}`);
    if (options.output === 'json') printJson(views);
    else if (options.output === 'jsonl') printLines(views);
    else print(views.map(renderWhy).join('\n\n'));
    if (views.some((view) => view.brokenCount > 0)) return EXIT.error;
    return views.every((view) => view.holds) ? EXIT.ok : EXIT.noData;
  });
}
