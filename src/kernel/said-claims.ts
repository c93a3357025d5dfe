/** From a goal's sentence to claims: one for each settled result, and each observed record, that bears it; or why it cannot be said. */
import type { Unsaid } from '#contracts/answer.ts';
import type { Claim, ClaimTemplate, Slot } from '#contracts/claim.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { StepId } from '#contracts/ids.ts';
import { anchorId, anchorType } from './anchor.ts';
import { renderSentence, sentenceIn } from './claim-sentence.ts';
import { usableResult, type EvidenceIndex } from './evidence-index.ts';
import { failure } from './failure.ts';
import { renderSlot } from './render-slot.ts';
import type { StepState } from './run-state.ts';

/** A claim but for its id. */
type Saying = Omit<Claim, 'claimId'>;

export interface Said {
  readonly claims: readonly Saying[];
  readonly unsaid: readonly Unsaid[];
}

export const INFERENCE_UNCERTAINTY = 'Inferred: no single record says this.';

/** `bearing`: the steps that bear the sentence's evidence, in plan order. */
export function sayTemplate(
  template: ClaimTemplate,
  bearing: readonly StepState[],
  by: { readonly index: EvidenceIndex; readonly language: string },
): Said {
  const outcomes = bearing.flatMap((step) =>
    sayResult(template, step, by).map((outcome) => ({ outcome, stepId: step.definition.stepId })),
  );
  const claims = outcomes.flatMap(({ outcome }) => ('text' in outcome ? [outcome] : []));
  const failed = outcomes.flatMap(({ outcome, stepId }) => ('text' in outcome ? [] : [{ ...outcome, stepId }]));
  const notSaid = Array.from(
    Map.groupBy(failed, ({ reason }) => reason),
    ([reason, same]) =>
      unsaid(template, by.language, {
        reason,
        stepIds: [...new Set(same.map(({ stepId }) => stepId))],
        error: same.find(({ error }) => error !== undefined)?.error,
      }),
  );
  if (bearing.length === 0) notSaid.push(unsaid(template, by.language, { reason: 'step_missing', stepIds: [] }));
  return { claims, unsaid: notSaid };
}

/** The entry of a sentence that cannot be said, with what a reader loses by it. */
export function unsaid(
  { key, impact }: ClaimTemplate,
  language: string,
  why: Why & { readonly reason: Unsaid['reason'] },
): Unsaid {
  return {
    key,
    reason: why.reason,
    stepIds: why.stepIds.slice(0, 64),
    impact: impact === undefined ? '' : sentenceIn(impact, language),
    ...(why.error === undefined ? {} : { error: why.error }),
  };
}

interface Why {
  readonly stepIds: readonly StepId[];
  readonly error?: ErrorRecord | undefined;
}

interface NotSaid {
  readonly reason: Unsaid['reason'];
  readonly error?: ErrorRecord | undefined;
}

function sayResult(
  template: ClaimTemplate,
  step: StepState,
  by: { readonly index: EvidenceIndex; readonly language: string },
): readonly (Saying | NotSaid)[] {
  if (step.result?.status === 'no_data') return [{ reason: 'no_data' }];
  const result = usableResult(step);
  if (result === undefined) return [{ reason: 'step_missing' }];
  const evidence = result.evidence.filter(({ evidenceId }) => by.index.byId.has(evidenceId));
  const choices = choose(template, evidence);
  if (choices.length === 0) return [{ reason: 'no_data' }];
  return choices.map((choice) => sayChoice(template, choice, by));
}

/** Which evidence stands for which kind of record; undefined where it cannot be told. */
type Choice = ReadonlyMap<string, Evidence | undefined>;

/**
 * One choice for each evidence of the first slot's kind. A second kind is taken from the record of the same id, else from the only
 * one there is. A sentence without slots rests on all that its step observed.
 */
function choose({ slots }: ClaimTemplate, evidence: readonly Evidence[]): readonly Choice[] {
  const types = [...new Set(Object.values(slots).map((slot) => slot.anchorType))];
  const [first, ...others] = types;
  if (first === undefined)
    return evidence.length === 0 ? [] : [new Map(evidence.map((item) => [item.evidenceId, item]))];
  const ofType = (type: string): readonly Evidence[] => evidence.filter(({ anchor }) => anchorType(anchor) === type);
  if (types.some((type) => ofType(type).length === 0)) return [];
  return ofType(first).map((item) => {
    const partners = others.map((type): readonly [string, Evidence | undefined] => {
      const all = ofType(type);
      const same = all.filter(({ anchor }) => anchorId(anchor) === anchorId(item.anchor));
      const [partner, ...more] = same.length > 0 ? same : all;
      return [type, more.length === 0 ? partner : undefined];
    });
    return new Map([[first, item], ...partners]);
  });
}

function sayChoice(
  template: ClaimTemplate,
  choice: Choice,
  { index, language }: { readonly index: EvidenceIndex; readonly language: string },
): Saying | NotSaid {
  const slots: Record<string, Slot> = {};
  for (const [name, { anchorType: type, pointer, format }] of Object.entries(template.slots)) {
    const evidence = choice.get(type);
    if (evidence === undefined)
      return refusal(`Sentence ${template.key} finds several records of ${type} and none that its slot ${name} names.`);
    const found = index.valueAt(evidence, pointer);
    if (!found.found)
      return refusal(`Slot ${name} of sentence ${template.key} points at ${pointer}, which ${evidence.anchor} lacks.`);
    const rendered = renderSlot(format, found.value);
    if (rendered.ok) slots[name] = { evidenceId: evidence.evidenceId, pointer, format, value: rendered.text };
    else if (rendered.reason === 'empty') return { reason: 'no_data' };
    else return refusal(`Slot ${name} of sentence ${template.key} holds no ${format} in ${evidence.anchor}.`);
  }
  const cited = [...new Set(choice.values())].filter((item) => item !== undefined).slice(0, 64);
  return sentenceOf(template, { slots, cited, language });
}

function sentenceOf(
  template: ClaimTemplate,
  made: {
    readonly slots: Readonly<Record<string, Slot>>;
    readonly cited: readonly Evidence[];
    readonly language: string;
  },
): Saying | NotSaid {
  const sentence = sentenceIn(template.sentence, made.language);
  const values = Object.fromEntries(Object.entries(made.slots).map(([name, { value }]) => [name, value]));
  const text = renderSentence(sentence, values);
  if (text === undefined)
    return refusal(`Sentence ${template.key} names a slot that it does not declare, or is too long.`);
  return {
    key: template.key,
    kind: template.kind,
    template: sentence,
    slots: made.slots,
    text,
    evidenceIds: made.cited.map(({ evidenceId }) => evidenceId),
    confidence: Math.min(1, ...made.cited.map(({ confidence }) => confidence ?? 1)),
    ...(template.kind === 'inference' ? { uncertainty: INFERENCE_UNCERTAINTY } : {}),
  };
}

function refusal(message: string): NotSaid {
  return { reason: 'refused', error: failure('ERR_CLAIM_POINTER', message) };
}
