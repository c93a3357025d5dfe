/** The steps that gave less than was planned, why, and what a reader loses by it. Source: DESIGN §3.8. */
import type { MissingStep } from '#contracts/answer.ts';
import type { ClaimTemplate } from '#contracts/claim.ts';
import { sentenceIn } from './claim-sentence.ts';
import { usableResult } from './evidence-index.ts';
import type { RunState, StepState } from './run-state.ts';

const TEXT_LENGTH_MAX = 1_000;
const STEP_COUNT_MAX = 1_000;

/** Every step that was skipped, has not ended, or ended other than completed, in plan order; at most 1,000. */
export function missingSteps(
  state: RunState,
  bearing: ReadonlyMap<ClaimTemplate, readonly StepState[]>,
  language: string,
): readonly MissingStep[] {
  const missing = [...state.steps.values()].filter(({ result }) => result?.status !== 'completed');
  return missing.slice(0, STEP_COUNT_MAX).map((step) => ({
    stepId: step.definition.stepId,
    team: step.definition.team,
    skillId: step.definition.skillId,
    status: step.result?.status ?? 'skipped',
    reason: reasonOf(step).slice(0, TEXT_LENGTH_MAX),
    impact: impactOf(step, bearing, language).slice(0, TEXT_LENGTH_MAX),
  }));
}

function reasonOf({ result, skipReason, phase }: StepState): string {
  if (result === undefined) return skipReason ?? `It was ${phase} when the run was decided.`;
  const [error] = result.errors;
  if (error !== undefined) return error.message;
  return result.missing.length > 0 ? `Missing: ${result.missing.join('; ')}.` : `It ended as ${result.status}.`;
}

/** What its sentences would have said; nothing where they could be said. */
function impactOf(
  step: StepState,
  bearing: ReadonlyMap<ClaimTemplate, readonly StepState[]>,
  language: string,
): string {
  if (usableResult(step) !== undefined) return '';
  const lost = [...bearing].filter(([, steps]) => steps.includes(step));
  return lost.flatMap(([{ impact }]) => (impact === undefined ? [] : [sentenceIn(impact, language)])).join(' ');
}
