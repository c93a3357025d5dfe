/** Status as shape, colour and word. Source: ui/UI.md "Status". */
import type { RunView, StepView } from '#contracts/run-view.ts';
import { html, icon, type Markup } from './html.ts';

type Look = readonly [icon: string, tone: string, word: string];

const RESULT: Readonly<Record<string, Look>> = {
  completed: ['ok', 'ok', 'Completed'],
  no_data: ['nodata', 'idle', 'No data'],
  partial: ['partial', 'warn', 'Partial'],
  degraded: ['degraded', 'warn', 'Degraded'],
  failed: ['failed', 'bad', 'Failed'],
  cancelled: ['cancelled', 'idle', 'Cancelled'],
  refused: ['forbid', 'bad', 'Refused'],
};
const STATE: Readonly<Record<string, Look>> = {
  received: ['pending', 'idle', 'Received'],
  planned: ['ready', 'run', 'Planned'],
  running: ['run', 'run', 'Running'],
  blocked: ['blocked', 'human', 'Blocked'],
  cancelling: ['run', 'idle', 'Cancelling'],
};
const STEP: Readonly<Record<string, Look>> = {
  ...RESULT,
  blocked: ['blocked', 'human', 'Blocked'],
  pending: ['pending', 'idle', 'Not begun'],
  ready: ['ready', 'run', 'Ready'],
  dispatched: ['run', 'run', 'Running'],
  waiting: ['clock', 'human', 'Waiting'],
  skipped: ['skipped', 'idle', 'Skipped'],
};

export function renderLook([name, tone, word]: Look): Markup {
  return html`<span class="st ${tone}">${icon(name)} <span>${word}</span></span>`;
}

export function renderRunStatus(run: Pick<RunView, 'state' | 'result'>): Markup {
  return renderLook(lookOf(RESULT, run.result ?? '') ?? lookOf(STATE, run.state) ?? ['pending', 'idle', run.state]);
}

export function renderStepStatus(step: StepView): Markup {
  return renderLook(lookOf(STEP, step.status ?? step.state) ?? ['pending', 'idle', step.state]);
}

function lookOf(table: Readonly<Record<string, Look>>, key: string): Look | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
