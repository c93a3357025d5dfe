/**
 * Text → goal contract by rules, with no model: language, goal kind, entities, outputs, prohibitions. What the rules cannot tell ends in a
 * question (`blocked`, GOAL_UNCLEAR), never in a guess. Source: DESIGN §3.1.
 */
import type { Intake } from '#contracts/command.ts';
import type { BlockedReason } from '#contracts/event.ts';
import { FRESH_EVIDENCE, GOAL_VERSION, goalContract, type GoalContract } from '#contracts/goal.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { GoalKind, OutputRule } from '#ports/goal-kind.ts';
import type { Ids } from '#ports/ids.ts';
import type { IntakePort, IntakeRequest } from '#ports/model.ts';
import { demandedActions } from './demanded-actions.ts';
import { readEntities } from './goal-entities.ts';
import { wantsFreshLook } from './fresh-wish.ts';
import { declaredLanguages, detectLanguage, recognisedBy } from './goal-language.ts';
import { assertGoalText, foldText } from './goal-text.ts';
import { readNegations, type TextReading } from './prohibitions.ts';
import { clarifiedActions, KEEP_PROHIBITED, unclearQuestion } from './prohibition-questions.ts';

type Read = Intake & { readonly language: string };

/**
 * The default intake. `kinds` are those of the installed cases. Refuses by throwing only what no goal can be read from: ERR_GOAL_TEXT,
 * ERR_GOAL_TOO_LARGE, and ERR_CONFIG when a kind's declaration makes no valid contract.
 */
export function createRulesIntake(options: { readonly kinds: readonly GoalKind[]; readonly ids: Ids }): IntakePort {
  return {
    read(request: IntakeRequest): Promise<Read> {
      // A refusal of the text reaches the caller as a rejection, like every other failure of this port.
      return Promise.resolve().then(() => readGoal(request, options));
    },
  };
}

function readGoal(request: IntakeRequest, options: { readonly kinds: readonly GoalKind[]; readonly ids: Ids }): Read {
  assertGoalText(request.text);
  const languages = declaredLanguages(options.kinds);
  const wanted = request.given['language'] ?? request.language;
  if (request.language !== undefined && !languages.includes(request.language))
    throw new CaseOpsError(
      'ERR_USAGE',
      `Expected one of ${languages.join(', ')} as the language of the goal, got ${JSON.stringify(request.language.slice(0, 16))}.`,
      { at: 'intake' },
    );
  const language =
    wanted !== undefined && languages.includes(wanted) ? wanted : detectLanguage(request.text, options.kinds);
  if (language === undefined)
    return unclear('en', {
      question: 'In which of these languages is the goal?',
      wants: 'language',
      options: [...languages],
    });
  const kind = chooseKind(request, options.kinds, language);
  if ('blocked' in kind) return { kind: 'question', blocked: kind.blocked, language };
  return readKind(request, kind.kind, { language, ids: options.ids });
}

function readKind(request: IntakeRequest, kind: GoalKind, how: { readonly language: string; readonly ids: Ids }): Read {
  const { language } = how;
  const reading = readNegations(request.text, kind);
  const entities = readEntities(request.text, kind, { given: request.given, language });
  if (!entities.ok) return { kind: 'question', blocked: entities.blocked, language };
  const question = unclearQuestion({ reading, kind, given: request.given, language });
  if (question !== undefined) return { kind: 'question', blocked: question, language };
  const prohibited = prohibitedActions(reading, kind, request.given);
  const contradicted = demandedActions(reading.demanded, kind).filter((action) => prohibited.includes(action));
  if (contradicted.length > 0 && request.given['contradiction'] !== KEEP_PROHIBITED)
    return unclear(language, contradiction(contradicted, language));
  const goal = freeze(request, kind, { ...how, entities: entities.entities, reading, prohibited });
  return { kind: 'goal', goal, language };
}

/** The kind whose phrases occur. Of several, the one whose entities the text fills; then the more specific one; else a question. */
function chooseKind(
  request: IntakeRequest,
  kinds: readonly GoalKind[],
  language: string,
): { readonly kind: GoalKind } | { readonly blocked: BlockedReason } {
  const named = kinds.find((kind) => kind.kind === request.given['goal_kind']);
  if (named !== undefined) return { kind: named };
  const folded = foldText(request.text);
  const recognised = kinds
    .map((kind) => ({ kind, phrases: recognisedBy(kind, folded, language) }))
    .filter(({ phrases }) => phrases > 0)
    .toSorted((a, b) => b.phrases - a.phrases);
  const filled = recognised.filter(
    ({ kind }) => readEntities(request.text, kind, { given: request.given, language }).ok,
  );
  const [first, second] = filled.length > 0 ? filled : recognised;
  if (first !== undefined && (second === undefined || first.phrases > second.phrases)) return { kind: first.kind };
  const candidates = first === undefined ? kinds : (filled.length > 0 ? filled : recognised).map(({ kind }) => kind);
  const names = candidates.map(({ kind }) => kind).slice(0, 64);
  return {
    blocked: {
      code: 'GOAL_UNCLEAR',
      question:
        language === 'ja'
          ? `どの種類の目的ですか。次のいずれかを選んでください：${names.join('、')}。`
          : `What kind of goal is this? The text fits ${first === undefined ? 'none' : 'several'} of the kinds that are installed: ${names.join(', ')}.`,
      wants: 'goal_kind',
      options: names,
    },
  };
}

function prohibitedActions(
  reading: TextReading,
  kind: GoalKind,
  given: Readonly<Record<string, string>>,
): readonly string[] {
  const found = reading.negations.flatMap(({ actions }) => actions);
  return [
    ...new Set([...found, ...clarifiedActions({ reading, kind, given }), ...kind.alwaysProhibitedActions]),
  ].toSorted();
}

function contradiction(actions: readonly string[], language: string): Omit<BlockedReason, 'code'> {
  const listed = actions.join(', ');
  return {
    question:
      language === 'ja'
        ? `文面は ${listed} を求めると同時に、それは禁止されています。禁止のまま続けるなら「${KEEP_PROHIBITED}」と答え、そうでなければ文面を直して依頼し直してください。`
        : `The text asks for ${listed}, which is forbidden for this goal. Answer "${KEEP_PROHIBITED}" to go on without it, or ask again in other words.`,
    wants: 'contradiction',
    options: [KEEP_PROHIBITED],
  };
}

function freeze(
  request: IntakeRequest,
  kind: GoalKind,
  read: {
    readonly ids: Ids;
    readonly language: string;
    readonly entities: Readonly<Record<string, string | string[]>>;
    readonly reading: TextReading;
    readonly prohibited: readonly string[];
  },
): GoalContract {
  const outputs = kind.outputs.filter((output) => isAsked(output, read.reading.asked));
  const dropped = new Set(kind.outputs.filter((output) => !outputs.includes(output)).map((output) => output.kind));
  const subject = read.entities[kind.subject.entity] ?? [];
  const parsed = goalContract.safeParse({
    contractVersion: GOAL_VERSION,
    goalId: read.ids.next('goal'),
    revision: 1,
    tenant: request.identity.tenant,
    requestedBy: request.identity.subject,
    sessionId: request.identity.sessionId,
    kind: kind.kind,
    kindVersion: kind.version,
    purpose: kind.purpose,
    subject: { type: kind.subject.type, ids: typeof subject === 'string' ? [subject] : subject },
    entities: read.entities,
    requestedOutputs: outputs.map(({ kind: output, required, forEach }) => ({
      kind: output,
      required,
      ...(forEach === undefined ? {} : { forEach }),
    })),
    prohibitedActions: read.prohibited,
    constraints: [...kind.constraints, ...(wantsFreshLook(read.reading.asked) ? [FRESH_EVIDENCE] : [])],
    evidencePolicy: { factsNeedEvidence: true, observationAgeMsMax: kind.observationAgeMsMax },
    claims: kind.claims.filter(({ output }) => output === undefined || !dropped.has(output)),
    budget: kind.budget,
    statement: { text: request.text, language: read.language },
  });
  if (parsed.success) return parsed.data;
  throw new CaseOpsError(
    'ERR_CONFIG',
    `The goal kind ${kind.kind} makes no valid goal contract: ${parsed.error.issues.map((issue) => `/${issue.path.join('/')} ${issue.message}`).join('; ')}.`,
    { at: 'intake' },
  );
}

function isAsked(output: OutputRule, asked: string): boolean {
  if (output.when === undefined) return true;
  return Object.values(output.when)
    .flat()
    .some((phrase) => new RegExp(phrase, 'iu').test(asked));
}

function unclear(language: string, blocked: Omit<BlockedReason, 'code'>): Read {
  return { kind: 'question', language, blocked: { code: 'GOAL_UNCLEAR', ...blocked } };
}
