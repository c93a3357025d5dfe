/**
 * Standing still for people: a run whose open steps all wait for an answer, an approval, or for somebody to find out what became of an
 * effect.
 * Its running time stands still with it. Source: CONTRACTS "Deadline", DESIGN §3.10.
 */
import type { BlockedReason, EventDraft } from '#contracts/event.ts';
import { conflictBlock } from './conflict-block.ts';
import { holdBlock } from './contract-hold.ts';
import { openApproval, openEffect } from './effect-state.ts';
import { stepsOf } from './ready-set.ts';
import type { RunState, StepState } from './run-state.ts';
import { questionBlock } from './step-question.ts';

const NAMED_COUNT_MAX = 8;

/** Whether people are needed only while the block lasts, and decisions lift it too. */
export function waitsForPeople({ code }: Pick<BlockedReason, 'code'>): boolean {
  return code === 'APPROVAL' || code === 'EFFECT_UNKNOWN' || code === 'STEP_BLOCKED' || code === 'CONTRACT';
}

/** What the run waits for when nothing goes on without people; undefined when something does, or nothing is open. O(open effect steps and questions). */
export function peopleBlock(state: RunState): BlockedReason | undefined {
  if (state.phase !== 'running') return undefined;
  const conflict = conflictBlock(state);
  if (conflict !== undefined) return conflict;
  if (state.inFlight.size + state.ready.size + state.delayed.size > 0) return undefined;
  if (state.readyEffects.size > 0) return undefined;
  const waiting = [...stepsOf(state, state.waitingEffects)];
  if (waiting.some((step) => goesOn(state, step))) return undefined;
  const first = questionBlock(state) ?? holdBlock(state);
  if (first !== undefined) return first;
  if (waiting.length === 0) return undefined;
  const doubts = waiting.filter((step) => openEffect(state, step) !== undefined);
  return doubts.length > 0 ? doubtful(doubts) : undecided(waiting);
}

/** Whether people are needed for more than what the run stands still for. */
export function needsPeopleAnyhow({ blocked, needsHuman, needsHumanBeforeBlock }: RunState): boolean {
  return blocked !== undefined && waitsForPeople(blocked) ? needsHumanBeforeBlock : needsHuman;
}

/** Lifts such a block; empty when there is none. */
export function liftPeopleBlock(state: RunState, by: string): readonly EventDraft[] {
  if (state.blocked === undefined || !waitsForPeople(state.blocked)) return [];
  return [{ kind: 'run.unblocked', body: { code: state.blocked.code, by, input: {} } }];
}

/** The writer has something to do for the step. */
function goesOn(state: RunState, step: StepState): boolean {
  const effect = openEffect(state, step);
  if (effect !== undefined) return effect.state !== 'unknown';
  return openApproval(state, step)?.state === 'approved';
}

function doubtful(steps: readonly StepState[]): BlockedReason {
  const named = steps
    .slice(0, NAMED_COUNT_MAX)
    .map(({ effectId, definition }) => `${effectId} of ${definition.stepId}`);
  return {
    code: 'EFFECT_UNKNOWN',
    question: `It is not known whether these effects were applied: ${named.join(', ')}. Nothing is sent again. Ask the resource's owner, then reconcile.`,
    wants: 'finding',
    options: ['applied', 'absent'],
  };
}

function undecided(steps: readonly StepState[]): BlockedReason {
  const named = steps
    .slice(0, NAMED_COUNT_MAX)
    .map(({ approvalId, definition }) => `${approvalId} for ${definition.stepId}`);
  return {
    code: 'APPROVAL',
    question: `These actions wait for their approvers: ${named.join(', ')}.`,
    wants: 'decision',
    options: [],
  };
}
