/** One run: what was asked and forbidden, the answer as sentences, the chain of the selected one, the proof of what did not happen. */
import type { ClaimView, RunView, StepView, WhyView } from '#contracts/run-view.ts';
import { html, icon, type Markup } from './html.ts';
import { renderSentence, sourcesOf } from './render-claim.ts';
import { renderLook, renderRunStatus, renderStepStatus } from './render-status.ts';
import { renderWhy } from './render-why.ts';

export interface RunParts {
  readonly run: RunView;
  readonly selected: ClaimView | undefined;
  readonly why: WhyView | undefined;
}

export function renderRun({ run, selected, why }: RunParts): Markup {
  return html`<nav class="crumb" aria-label="Breadcrumb">
      <a href="/">Runs</a> <span aria-hidden="true">/</span> <span class="rec">${run.runId}</span>
    </nav>
    <h1><bdi>${run.statement.text}</bdi></h1>
    ${prohibitions(run)} ${facts(run)} ${erasure(run)} ${migrations(run)} ${revisions(run)} ${question(run)}
    <div class="cols runview">
      <div>
        <div class="head">
          <h2>Answer</h2>
          <span class="quiet"
            >${countSentence(run)}<span class="keys">. <kbd>j</kbd> <kbd>k</kbd> move, <kbd>w</kbd> why</span></span
          >
        </div>
        <form method="get" action="/runs/${run.runId}">
          <ol class="answer">
            ${run.claims.map((claim) => claimRow(claim, claim === selected))}${run.unsaid.map(unsaidRow)}
          </ol>
        </form>
      </div>
      ${
        selected === undefined || why === undefined
          ? html`<aside class="why" id="why">
              <header>
                <h2 class="lab">Why can we say this?</h2>
                <p class="quiet">There is no sentence yet.</p>
              </header>
            </aside>`
          : renderWhy({ run, selected, why })
      }
      ${run.claims.flatMap((claim) => (claim.proof === undefined ? [] : [proof(run, claim)]))} ${steps(run)}
    </div>`;
}

function prohibitions(run: RunView): Markup | undefined {
  const actions = run.goal?.prohibitedActions ?? [];
  if (actions.length === 0) return undefined;
  return html`<section class="forbid" aria-label="Prohibited in this run">
    <span class="lab">Must not</span>
    <ul>
      ${actions.map((action) => html`<li>${icon('forbid')} <b class="rec">${action}</b></li>`)}
    </ul>
  </section>`;
}

function facts(run: RunView): Markup {
  const settled = run.steps.filter((step) => step.state === 'settled').length;
  const budget = run.goal?.budget;
  return html`<div class="facts num">
      ${renderRunStatus(run)}
      <span>asked by <b>${run.requestedBy}</b></span>
      <span>as of <b>${run.receivedAt.slice(0, 16).replace('T', ' ')} UTC</b></span>
      <span><b>${settled}</b> of ${run.steps.length} steps</span>
      ${budget === undefined ? undefined : html`<span><b>${run.used.toolCallCount}</b> of ${budget.toolCallCountMax} tool calls</span><span><b>${run.used.modelTokenCount}</b> of ${budget.modelTokenCountMax.toLocaleString('en-US')} tokens</span>`}
      ${run.durationMs === null || budget === undefined ? undefined : html`<span><b>${run.durationMs} ms</b> of ${budget.deadlineMs.toLocaleString('en-US')}</span>`}
      <span><b>${run.effects.length}</b> effects</span>
    </div>
    ${run.reason === null || run.result === 'completed' ? undefined : html`<p class="quiet reason">${run.reason}</p>`}`;
}

function erasure({ erased }: RunView): Markup | undefined {
  if (erased === null) return undefined;
  const what = erased.scope === 'run' ? 'What this run asked, found and said' : 'The artifacts of this run';
  const why = erased.cause.kind === 'policy' ? `by policy after ${erased.cause.olderThanDays} days` : 'on request';
  return html`<p class="quiet reason">
    ${what} was erased at ${erased.at} ${why}, by ${erased.by} (<span class="rec">${erased.tombstoneId}</span>). Its log
    still verifies.
  </p>`;
}

/** Each move to other contracts, with who and why. */
function migrations(run: RunView): readonly Markup[] {
  return run.migrations.map(
    (move) =>
      html`<p class="quiet reason">
        Migrated from plan ${move.fromVersion} to plan ${move.toVersion} by ${move.by} at ${move.at}: ${move.reason}
      </p>`,
  );
}

/** Each version of the plan that took another one's place, and results that changed nothing. */
function revisions(run: RunView): readonly Markup[] {
  const moves = run.revisions.map(
    (move) =>
      html`<p class="quiet reason">
        Plan ${move.toVersion} in place of plan ${move.fromVersion} by ${move.by} at ${move.at}: ${move.reason}
      </p>`,
  );
  if (run.arrivalCount === 0) return moves;
  const kinds = [...new Set(run.arrivals.map(({ kind, stepId }) => `${kind} of ${stepId}`))].join(', ');
  return [
    ...moves,
    html`<p class="quiet reason">${run.arrivalCount} results changed nothing but their own record: ${kinds}.</p>`,
  ];
}

function question(run: RunView): Markup | undefined {
  if (run.blocked === null) return undefined;
  const { code, question: asked, wants } = run.blocked;
  const [waits, command] =
    code === 'APPROVAL'
      ? ['Waiting for a decision', `caseops approvals ls --run ${run.runId} --as approver`]
      : code === 'EFFECT_UNKNOWN'
        ? ['Waiting for somebody to find out', `caseops effects ls --run ${run.runId}`]
        : code === 'RESULT_CONFLICT'
          ? ['Waiting for a decision', `caseops runs resolve ${run.runId} STEP --held HASH --reason …`]
          : code === 'CONTRACT'
            ? ['Waiting for a migration', `caseops runs migrate ${run.runId} --reason …`]
            : ['Waiting for an answer', `caseops answer ${run.runId} --input ${wants}=…`];
  return html`<section class="card">
    <p class="q">${waits}</p>
    <h2>${asked}</h2>
    <p class="quiet rec">${command}</p>
  </section>`;
}

function countSentence(run: RunView): string {
  const said = `${run.claims.length} ${run.claims.length === 1 ? 'sentence' : 'sentences'}, each bound to evidence`;
  return run.unsaid.length === 0 ? said : `${said}; ${run.unsaid.length} not said`;
}

function claimRow(claim: ClaimView, pressed: boolean): Markup {
  const status =
    claim.kind === 'inference' ? renderLook(['partial', 'idle', 'Inferred']) : renderLook(['ok', 'ok', 'Holds']);
  const source =
    claim.proof === undefined
      ? html`<span class="src rec">${sourcesOf(claim)}</span>`
      : html`<span class="src"><span>Proof below</span></span>`;
  return html`<li>
    <button
      class="claim"
      name="claim"
      value="${claim.key}"
      aria-pressed="${String(pressed)}"
      aria-controls="why"
      data-claim="${claim.claimId}"
    >
      <span class="say">${renderSentence(claim)}</span>${source}${status}
    </button>
  </li>`;
}

function unsaidRow(item: RunView['unsaid'][number]): Markup {
  return html`<li class="unsaid">
    <div class="claim">
      <span class="say">${item.impact === '' ? `Not said: ${item.key}` : item.impact}</span
      ><span class="src"
        ><span
          >Not said:
          ${item.reason.replaceAll('_', ' ')}${item.stepIds.length === 0 ? '' : `, step ${item.stepIds.join(', ')}`}</span
        ></span
      >${renderLook(['skipped', 'idle', 'Not said'])}
    </div>
  </li>`;
}

function proof(run: RunView, claim: ClaimView): Markup {
  const shown = claim.proof;
  if (shown === undefined) return html``;
  return html`<section class="card proof" aria-labelledby="proof-title">
    <p class="q">Was it done: <span class="rec">${shown.action}</span>?</p>
    <h2 class="a" id="proof-title">${shown.holds ? 'No, and here is why it could not be.' : 'Not shown.'}</h2>
    <dl class="rows">
      ${proofRow('Forbidden', html`The goal contract <span class="rec">${run.goal?.goalId ?? ''}</span> lists <span class="rec">${shown.action}</span> as prohibited.`, shown.prohibitedByGoal)}
      ${proofRow('Never permitted', html`<b>${shown.leaseCountExamined} leases</b> were minted in this run. <b>${shown.leaseCountPermitting === 0 ? 'None' : shown.leaseCountPermitting}</b> names <span class="rec">${shown.action}</span>.`, shown.leaseCountPermitting === 0)}
      ${proofRow('Never called', html`<b>${shown.dispatchCountCalling}</b> steps were dispatched with a skill that does this.`, shown.dispatchCountCalling === 0)}
      ${proofRow('Never applied', html`<b>${shown.effectRowCount} rows</b> in the effect ledger.`, shown.effectRowCount === 0)}
    </dl>
  </section>`;
}

function proofRow(term: string, text: Markup, holds: boolean): Markup {
  return html`<div>
    <dt>${term}</dt>
    <dd>${text}</dd>
    <dd class="st ${holds ? 'ok' : 'bad'}">${icon(holds ? 'ok' : 'failed')} ${holds ? 'Verified' : 'Not shown'}</dd>
  </div>`;
}

function steps(run: RunView): Markup | undefined {
  if (run.steps.length === 0) return undefined;
  return html`<section class="steps" aria-labelledby="steps-title">
    <h2 id="steps-title">Steps</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Steps">
      <table>
        <thead>
          <tr>
            <th>Step</th>
            <th>Team</th>
            <th>Skill</th>
            <th>Status</th>
            <th class="r">Time</th>
          </tr>
        </thead>
        <tbody>
          ${run.steps.map(stepRow)}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** Which earlier run the step's result comes from. */
function takenOver({ origin }: StepView): Markup | undefined {
  if (origin === null) return undefined;
  return html`<p class="quiet note">
    Taken over from <a class="rec" href="/runs/${origin.runId}">${origin.runId}</a> step ${origin.stepId}, observed at
    ${origin.observedAt}
  </p>`;
}

function stepRow(step: StepView): Markup {
  const note = step.skipReason ?? step.errors[0]?.message ?? step.attempts.at(-1)?.error?.message;
  return html`<tr>
    <th scope="row" class="rec">${step.stepId}</th>
    <td>${step.team}</td>
    <td class="rec">${step.skillId}</td>
    <td>
      ${renderStepStatus(step)}${note === undefined ? undefined : html`<p class="quiet note">${note}</p>`}${takenOver(step)}
    </td>
    <td class="r num">${step.durationMs === null ? '–' : `${step.durationMs} ms`}</td>
  </tr>`;
}
