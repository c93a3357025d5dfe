/**
 * A step that cannot go on without a person's word: its worker asks for one of its inputs, the run stands still, and the answer takes that
 * input's place in the next attempt. Only a central run asks people; a team hands the question up as how its task ended. DESIGN §3.1, §8.3.
 */
import type { CommandOf } from '#contracts/command.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { BlockedReason } from '#contracts/event.ts';
import { decided, type Decision, refused } from './decision.ts';
import { resolveInputs } from './inputs.ts';
import type { RunState, StepQuestion, StepState } from './run-state.ts';

const QUESTION_LENGTH_MAX = 2_000;
const ANSWER_LENGTH_MAX = 2_000;

/**
 * What the end of an attempt asks: ERR_STEP_BLOCKED with `detail.wants`, the name of an input of the step that is a text. Undefined for
 * any other end: the step is then over.
 */
export function questionOf(state: RunState, step: StepState, error: ErrorRecord): StepQuestion | undefined {
  const wants = error.detail?.['wants'];
  if (error.code !== 'ERR_STEP_BLOCKED' || state.level !== 'central' || typeof wants !== 'string') return undefined;
  const { stepId, team, skillId } = step.definition;
  const inputs = resolveInputs(state, stepId);
  if (!inputs.ok || !Object.hasOwn(inputs.input, wants) || typeof inputs.input[wants] !== 'string') return undefined;
  return { wants, text: `Step ${stepId} (${team}/${skillId}) asks: ${error.message}`.slice(0, QUESTION_LENGTH_MAX) };
}

/** The first open question, as what the run waits for. */
export function questionBlock(state: RunState): BlockedReason | undefined {
  const [first] = state.questions.values();
  return first && { code: 'STEP_BLOCKED', question: first.text, wants: first.wants, options: [] };
}

/** Takes the answer to a step's question. Refused unless the run asks one and the answer comes under the name asked for. */
export function decideAnswerStep(state: RunState, command: CommandOf<'answerStep'>): Decision {
  const { blocked, ref, phase } = state;
  if (blocked?.code !== 'STEP_BLOCKED')
    return refused('ERR_STATE', `Run ${ref.runId} is ${phase} and no step of it asks anything.`);
  const { code, wants } = blocked;
  const value = answerTo(wants, command.input);
  if (value === undefined || value === '' || value.length > ANSWER_LENGTH_MAX)
    return refused(
      'ERR_USAGE',
      `Run ${ref.runId} wants an input named ${wants}, of 1 to ${ANSWER_LENGTH_MAX} characters.`,
    );
  return decided({ kind: 'run.unblocked', body: { code, by: command.actor, input: { [wants]: value } } });
}

/** What was given under the name; undefined when nothing was. */
export function answerTo(wants: string, input: Readonly<Record<string, string>>): string | undefined {
  return Object.hasOwn(input, wants) ? input[wants] : undefined;
}
