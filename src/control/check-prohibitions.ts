/**
 * The check over any intake: no prohibition of the text may be lost, and the goal is about the text and the person it was made for. A model
 * may read a goal; it cannot soften one. Source: DESIGN §3.1.
 */
import type { Intake } from '#contracts/command.ts';
import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { IntakePort, IntakeRequest, ModelBounds } from '#ports/model.ts';
import { readNegations } from './prohibitions.ts';
import { clarifiedActions, unclearQuestion } from './prohibition-questions.ts';

/**
 * What a goal lacks of what its text and its kind prohibit: ERR_PROHIBITION_LOST with the actions or the words. A kind that is not
 * installed is ERR_GOAL_CONTRACT. Undefined: nothing is lost.
 */
export function checkProhibitions(
  goal: GoalContract,
  text: string,
  against: { readonly kinds: readonly GoalKind[]; readonly given?: Readonly<Record<string, string>> },
): ErrorRecord | undefined {
  const kind = against.kinds.find((candidate) => candidate.kind === goal.kind);
  if (kind === undefined)
    return refusal('ERR_GOAL_CONTRACT', `A goal is of an installed kind; ${goal.kind} is not installed.`);
  const given = against.given ?? {};
  const reading = readNegations(text, kind);
  const open = unclearQuestion({ reading, kind, given, language: 'en' });
  if (open !== undefined)
    return refusal('ERR_PROHIBITION_LOST', `A prohibition of the text is not in the goal. ${open.question}`);
  const wanted = [
    ...reading.negations.flatMap(({ actions }) => actions),
    ...clarifiedActions({ reading, kind, given }),
    ...kind.alwaysProhibitedActions,
  ];
  const lost = [...new Set(wanted)].filter((action) => !goal.prohibitedActions.includes(action)).toSorted();
  if (lost.length === 0) return undefined;
  return refusal('ERR_PROHIBITION_LOST', `The text prohibits ${lost.join(', ')}; the proposed goal does not.`, {
    lost,
  });
}

/**
 * An intake whose every goal has been checked, whoever read it. Throws ERR_PROHIBITION_LOST, and ERR_GOAL_CONTRACT when the goal is for
 * another person, tenant, session or text than the request.
 */
export function checkedIntake(intake: IntakePort, kinds: readonly GoalKind[]): IntakePort {
  return {
    async read(request: IntakeRequest, bounds: ModelBounds): Promise<Intake & { readonly language: string }> {
      const read = await intake.read(request, bounds);
      if (read.kind === 'question') return read;
      const { goal } = read;
      const { tenant, subject, sessionId } = request.identity;
      if (
        goal.tenant !== tenant ||
        goal.requestedBy !== subject ||
        goal.sessionId !== sessionId ||
        goal.statement.text !== request.text
      )
        throw new CaseOpsError(
          'ERR_GOAL_CONTRACT',
          `A goal is for the request it was read from; goal ${goal.goalId} names another tenant, person, session or text.`,
          { at: 'intake' },
        );
      const lost = checkProhibitions(goal, request.text, { kinds, given: request.given });
      if (lost !== undefined)
        throw new CaseOpsError(lost.code, lost.message, { at: lost.at, detail: lost.detail ?? {} });
      return read;
    },
  };
}

function refusal(
  code: 'ERR_PROHIBITION_LOST' | 'ERR_GOAL_CONTRACT',
  message: string,
  detail?: Readonly<Record<string, string[]>>,
): ErrorRecord {
  return {
    code,
    kind: 'contract',
    message: message.slice(0, 2_000),
    at: 'intake',
    retryable: false,
    ...(detail && { detail }),
  };
}
