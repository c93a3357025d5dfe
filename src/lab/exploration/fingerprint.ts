/**
 * The identity of a state. Two states with one fingerprint go on alike: ids, hashes and absolute times are left out, times are how many
 * units away they are (0: due), and of the states that differ only by a symmetry of their plan the least one counts.
 */
import { attemptDeadlineMs, runDeadlineMs } from '#kernel/deadline.ts';
import type { ApprovalCase, EffectCase } from '#kernel/effect-state.ts';
import type { AttemptState, RunState, StepState } from '#kernel/run-state.ts';
import { millisOf } from '#kernel/time.ts';
import { type ExploredPlan, UNIT_MS } from './explored-plan.ts';
import type { Ledger } from './ledger.ts';

export interface Identified {
  readonly state: RunState;
  readonly ledger: Ledger;
  readonly nowMs: number;
}

export function fingerprintOf(plan: ExploredPlan, of: Identified): string {
  const parts = plan.stepIds.map((stepId) => stepPart(stepId, of));
  return runPart(plan, of) + leastOrder(plan, parts, orderPart(plan, of));
}

/** Of the orders that the plan's symmetries allow. */
function leastOrder({ symmetries }: ExploredPlan, parts: readonly string[], order: readonly number[]): string {
  if (symmetries.length === 1) return `${parts.join('|')}${order.join('')}`;
  let least: string | undefined;
  for (const by of symmetries) {
    const text = `${by.map((step) => parts[step]).join('|')}${order.map((step) => by.indexOf(step)).join('')}`;
    if (least === undefined || text < least) least = text;
  }
  return least ?? '';
}

/** The order in which steps became ready matters only where they do not all fit. */
function orderPart({ stepIds, plan }: ExploredPlan, { state }: Identified): readonly number[] {
  const waiting = [...state.delayed, ...state.ready];
  if (waiting.length < 2) return [];
  const left = plan.budget.toolCallCountMax - (state.budget?.toolCallCountUsed ?? 0) - state.inFlight.size;
  const fits = waiting.length <= plan.budget.concurrencyMax - state.inFlight.size && waiting.length <= left;
  return fits ? [] : waiting.map((stepId) => stepIds.indexOf(stepId));
}

function runPart({ scarce }: ExploredPlan, { state, nowMs, ledger }: Identified): string {
  const { phase, phaseBeforeBlock, blocked, budget } = state;
  const flags = [
    state.needsHuman,
    state.needsHumanBeforeBlock,
    state.cancelSettled,
    state.fallbackUsed,
    ledger.cancelled,
    ledger.blocked,
  ];
  return `${phase}/${phaseBeforeBlock ?? ''}/${blocked?.code ?? ''}/${state.result ?? ''}/${flags.map(Number).join('')}/${clock(state, nowMs)}/${scarce ? budget?.toolCallCountUsed : ''}/${state.answer === undefined ? '' : 'a'}/`;
}

/** A run that stands still has its time before it as it was. */
function clock(state: RunState, nowMs: number): number {
  if (state.phase === 'ended' || state.phase === 'cancelling') return 0;
  if (state.pausedSince === undefined) return units(runDeadlineMs(state) - nowMs);
  const { admittedAt, pausedMs, accepted } = state;
  const runs = millisOf(state.pausedSince) - millisOf(admittedAt ?? state.pausedSince) - pausedMs;
  return units((accepted?.plan.budget.deadlineMs ?? 0) - runs);
}

function units(ms: number): number {
  return Math.max(0, Math.ceil(ms / UNIT_MS));
}

function stepPart(stepId: string, of: Identified): string {
  const { state, ledger, nowMs } = of;
  const step = state.steps.get(stepId);
  if (step === undefined) return '-';
  const entry = ledger.steps.get(stepId);
  const effect = effectPart(state, step, nowMs);
  const said = `${entry?.out ?? 0}${entry?.accepted === undefined ? '' : 'a'}${entry?.outcome ?? ''}${entry?.held ?? 0}`;
  // A step that is over is how it ended: what came before is only in the log.
  if (step.phase === 'settled' || step.phase === 'skipped')
    return `${step.phase}${resultPart(step)}${setsPart(state, stepId)}${step.attempts.length > 0 ? 'd' : ''}${effect}${said}`;
  const attempts = step.attempts.map((attempt) => attemptPart(attempt, nowMs)).join('');
  return `${step.phase}${step.unsatisfiedCount}${setsPart(state, stepId)}[${attempts}]${notBefore(step, nowMs)}${Object.keys(step.given).length}${step.reservedToolCallCount}${effect}${said}`;
}

function setsPart(state: RunState, stepId: string): string {
  const sets = [
    state.ready,
    state.delayed,
    state.readyEffects,
    state.waitingEffects,
    state.inFlight,
    state.questions,
    state.conflicts,
  ];
  return sets.map((set) => (set.has(stepId) ? '1' : '0')).join('');
}

function attemptPart(attempt: AttemptState, nowMs: number): string {
  if (attempt.error !== undefined) return attempt.error.code === 'ERR_STEP_BLOCKED' ? 'q' : 'x';
  return `${attempt.taskId === undefined ? 'd' : 'w'}${units(attemptDeadlineMs(attempt) - nowMs)}`;
}

function notBefore({ notBeforeAt }: StepState, nowMs: number): string {
  return notBeforeAt === undefined ? '' : `n${units(millisOf(notBeforeAt) - nowMs)}`;
}

function resultPart({ result }: StepState): string {
  if (result === undefined) return '';
  const value = JSON.stringify(result.data) ?? '';
  return `${result.status}${value}${result.artifactRef === undefined ? '' : '+'}`;
}

/**
 * Approvals while something can still come of them, and the effect. An effect that is over, or whose run has ended, is what became of it,
 * whatever it was approved by and tried how often.
 */
function effectPart(state: RunState, step: StepState, nowMs: number): string {
  const { stepId } = step.definition;
  const effect = step.effectId === undefined ? undefined : state.effects.get(step.effectId);
  const closed = step.phase === 'settled' || step.phase === 'skipped' || state.phase === 'ended';
  let text = '';
  for (const approval of state.approvals.values()) {
    const { approvalId, state: is } = approval;
    const current = approvalId === step.approvalId;
    if (approval.stepId !== stepId || (effect !== undefined && !current)) continue;
    if (!closed) text += `<${is}${current && timed(approval, step, effect) ? expiryPart(state, approval, nowMs) : ''}>`;
    else if (is === 'pending' || is === 'approved') text += `<${is}>`;
  }
  for (const other of state.effects.values()) if (other.stepId === stepId) text += oneEffect(state, other, nowMs);
  return text;
}

/** Its expiry counts while it can be used, or its effect be tried again. */
function timed({ state }: ApprovalCase, { skill }: StepState, effect: EffectCase | undefined): boolean {
  if (state === 'spent') return effect !== undefined && effect.attempt < skill.retry.attemptCountMax;
  return state === 'pending' || state === 'approved' || state === 'stale';
}

function expiryPart({ phase }: RunState, { proposal, decisions }: ApprovalCase, nowMs: number): string {
  return phase === 'cancelling' ? '' : `${units(millisOf(proposal.expiresAt) - nowMs)}${decisions.length}`;
}

function oneEffect({ openEffects, phase }: RunState, effect: EffectCase, nowMs: number): string {
  const { state, attempt, sent, boundMs, receipt, effectId } = effect;
  const open = openEffects.has(effectId);
  const under = state === 'in_progress' ? `${Number(sent)}${units(boundMs - nowMs)}` : '';
  return `{${state}${open && phase !== 'ended' ? `${attempt}o` : ''}${under}${receipt === undefined ? '' : 'r'}}`;
}
