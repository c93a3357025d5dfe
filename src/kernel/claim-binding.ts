/**
 * Claims are bound to evidence here: composed from settled results by the goal's own sentences, or, if anyone else phrased them,
 * checked before the run says them. Source: DESIGN §3.9, INV-03.
 */
import { ANSWER_VERSION, type Answer, type Unsaid } from '#contracts/answer.ts';
import type { AbsenceProof, ClaimTemplate } from '#contracts/claim.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { ClaimId } from '#contracts/ids.ts';
import type { RunResult } from '#contracts/step-result.ts';
import { checkClaim, type Lookup } from './claim-check.ts';
import { sentenceIn } from './claim-sentence.ts';
import { evidenceIndex } from './evidence-index.ts';
import { failure } from './failure.ts';
import { missingSteps } from './missing-steps.ts';
import type { RunState, StepState } from './run-state.ts';
import { sayTemplate, unsaid, type Said } from './said-claims.ts';

export interface Composition {
  readonly state: RunState;
  /** evidenceId → the record as observed; each is compared with its evidence's digest before it is used. */
  readonly records: Readonly<Record<string, unknown>>;
  /** By prohibited action. */
  readonly proofs: Readonly<Record<string, AbsenceProof>>;
  readonly proofEvidence: readonly Evidence[];
  readonly result: RunResult;
  readonly needsHuman: boolean;
  /** Makes the id of the nth claim of a sentence. */
  readonly claimId: (key: string, index: number) => ClaimId;
}

/**
 * The answer that the goal's sentences and the settled results give, in the order of the goal, then of the plan. What cannot be said is
 * listed with its reason, each step that gave less than planned with its impact. It passes `checkAnswer`. At most 1,000 claims.
 */
export function composeAnswer(input: Composition): Answer {
  const { state, records, proofEvidence } = input;
  const language = state.goal?.statement.language ?? 'en';
  const index = evidenceIndex(state, records, proofEvidence);
  const templates = state.goal?.claims ?? [];
  const bearing = new Map(templates.map((template) => [template, bearingSteps(state, template)]));
  const said = Array.from(bearing, ([template, steps]) =>
    template.kind === 'absence'
      ? sayAbsence(template, input, language)
      : sayTemplate(template, steps, { index, language }),
  );
  const claims = said
    .flatMap((one) => one.claims.map((saying, at) => ({ claimId: input.claimId(saying.key, at), ...saying })))
    .slice(0, CLAIM_COUNT_MAX);
  const cited = new Set<string>(claims.flatMap(({ evidenceIds }) => evidenceIds));
  return {
    contractVersion: ANSWER_VERSION,
    language,
    result: input.result,
    needsHuman: input.needsHuman,
    claims,
    unsaid: said.flatMap((one) => one.unsaid),
    missingSteps: [...missingSteps(state, bearing, language)],
    evidence: Array.from(index.byId.values(), ({ evidence }) => evidence).filter(({ evidenceId }) =>
      cited.has(evidenceId),
    ),
  };
}

/**
 * Every reason why an answer may not be given; empty means: each claim is bound. `known` tells whose an evidence id is that this run
 * does not bear, so that a foreign tenant's, a foreign task's and an invented one get their own reasons.
 */
export function checkAnswer(
  answer: Answer,
  against: {
    readonly state: RunState;
    readonly records: Readonly<Record<string, unknown>>;
    readonly proofEvidence: readonly Evidence[];
    readonly known?: Lookup;
  },
): readonly ErrorRecord[] {
  const { state, records, proofEvidence } = against;
  const index = evidenceIndex(state, records, proofEvidence);
  const errors: ErrorRecord[] = [];
  for (const { evidenceId, digest, anchor, version } of answer.evidence) {
    const own = index.byId.get(evidenceId)?.evidence;
    if (own?.digest !== digest || own.anchor !== anchor || own.version !== version)
      errors.push(
        failure('ERR_CLAIM_UNKNOWN_EVIDENCE', `The answer lists ${evidenceId}, which this run does not bear so.`),
      );
  }
  const listed = new Set<string>(answer.evidence.map(({ evidenceId }) => evidenceId));
  const seen = new Set<string>();
  for (const claim of answer.claims) {
    if (seen.has(claim.claimId))
      errors.push(failure('ERR_CLAIM_FREE_FACT', `The answer has two claims of the id ${claim.claimId}.`));
    seen.add(claim.claimId);
    errors.push(...checkClaim(claim, { state, index, listed, known: against.known ?? (() => 'unknown') }));
  }
  return errors;
}

const CLAIM_COUNT_MAX = 1_000;

/** The steps that the plan declares for a sentence, in plan order. */
function bearingSteps(state: RunState, { key }: ClaimTemplate): readonly StepState[] {
  const declared = new Set(state.accepted?.plan.claims.find((claim) => claim.key === key)?.stepIds);
  return [...state.steps.values()].filter(({ definition }) => declared.has(definition.stepId));
}

function sayAbsence(template: ClaimTemplate, input: Composition, language: string): Said {
  const { absentAction: action = '' } = template;
  const proof = Object.hasOwn(input.proofs, action) ? input.proofs[action] : undefined;
  const not = (reason: Unsaid['reason']): Said => ({
    claims: [],
    unsaid: [unsaid(template, language, { reason, stepIds: [] })],
  });
  if (proof?.holds !== true) return not('proof_failed');
  if (Object.keys(template.slots).length > 0) return not('refused');
  const sentence = sentenceIn(template.sentence, language);
  const claim = {
    key: template.key,
    kind: template.kind,
    template: sentence,
    slots: {},
    text: sentence,
    confidence: 1,
    proof,
  };
  const evidenceIds = input.proofEvidence.slice(0, 64).map(({ evidenceId }) => evidenceId);
  return { claims: [{ ...claim, evidenceIds }], unsaid: [] };
}
