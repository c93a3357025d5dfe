/** The list of runs: newest first, one line each. */
import type { RunSummary } from '#contracts/run-view.ts';
import { html, type Markup } from './html.ts';
import { renderRunStatus } from './render-status.ts';

export function renderRuns(runs: readonly RunSummary[]): Markup {
  if (runs.length === 0) {
    return html`<h1>No runs yet</h1>
      <p class="quiet">Ask something: <span class="rec">caseops ask "Why has C-102 not been completed?"</span></p>`;
  }
  return html`<h1>Runs</h1>
    <div class="scroll" tabindex="0" role="region" aria-label="Runs">
      <table>
        <thead>
          <tr>
            <th>Run</th>
            <th>Status</th>
            <th>Kind</th>
            <th>About</th>
            <th>Asked by</th>
            <th>Started (UTC)</th>
          </tr>
        </thead>
        <tbody>
          ${runs.map(
            (run) =>
              html`<tr>
                <th scope="row"><a class="rec" href="/runs/${run.runId}">${run.runId}</a></th>
                <td>${renderRunStatus(run)}</td>
                <td class="rec">${run.kind}</td>
                <td class="rec">${run.subject}</td>
                <td>${run.requestedBy}</td>
                <td class="num">${run.startedAt.slice(0, 19).replace('T', ' ')}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
