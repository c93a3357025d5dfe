import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer as answerSchema, type Answer } from '#contracts/answer.ts';
import type { Artifact } from '#contracts/artifact.ts';
import type { ClaimTemplate } from '#contracts/claim.ts';
import type { EventDraft } from '#contracts/event.ts';
import { proveAbsence, type AbsenceQuestion } from './absence-proof.ts';
import { ASKED, ROW } from './absence-proof.test.ts';
import { checkAnswer, composeAnswer, type Composition } from './claim-binding.ts';
import { ARTIFACTS, artifactOf, begun, OPENING, recordsOf, SETTLED, settled, stateOf } from './claims-run.test.ts';
import { changed, GOAL, PLAN } from './claims-world.test.ts';
import { digestOf } from './digest.ts';
import { INFERENCE_UNCERTAINTY } from './said-claims.ts';

export function first<T>(list: readonly T[] | undefined): T {
  assert.ok(list?.[0] !== undefined, 'the list is not empty');
  return list[0];
}

/** What the consolidator hands in after these events and artifacts. */
export function compositionOf(
  drafts: readonly EventDraft[] = SETTLED,
  artifacts: readonly Artifact[] = ARTIFACTS,
  asked: Partial<AbsenceQuestion> = {},
): Composition {
  const { proofs, evidence, records } = proveAbsence({ ...ASKED, ...asked });
  return {
    state: stateOf(drafts),
    records: { ...recordsOf(artifacts), ...records },
    proofs,
    proofEvidence: evidence,
    result: 'completed',
    needsHuman: false,
    claimId: (key, index) => `clm_${key}-${index}`,
  };
}

/** The opening with another goal, and with the plan's declarations for its sentences. */
function opening(
  claims: readonly ClaimTemplate[],
  change: (plan: typeof PLAN) => void = () => {},
): readonly EventDraft[] {
  return OPENING.map((draft): EventDraft => {
    if (draft.kind === 'goal.frozen')
      return { ...draft, body: { ...draft.body, goal: { ...GOAL, claims: [...claims] } } };
    if (draft.kind !== 'plan.accepted') return draft;
    const plan = changed(PLAN, (p) => {
      p.claims = claims.map(({ key }) => ({ key, stepIds: ['s1'] }));
      change(p);
    });
    return { ...draft, body: { ...draft.body, plan } };
  });
}

/** Only step s1 has run, with this artifact, in a run whose goal has only these sentences. */
export function withSentences(claims: readonly ClaimTemplate[], artifact = artifactOf('s1')): Composition {
  return compositionOf([...opening(claims), ...begun('s1'), ...settled(artifact)], [artifact]);
}

const STATUS = first(GOAL.claims);
export const sentence = (over: Partial<ClaimTemplate>): ClaimTemplate => ({ ...STATUS, ...over });

function reasons(composition: Composition): readonly (readonly unknown[])[] {
  const answer = composeAnswer(composition);
  assert.deepEqual(answerSchema.parse(answer), answer);
  return answer.unsaid.map(({ key, reason, stepIds, error }) => [key, reason, stepIds, error?.code]);
}

export const COMPOSED = composeAnswer(compositionOf());

test('the goal’s sentences are said with values that code writes from evidence', () => {
  assert.deepEqual(answerSchema.parse(COMPOSED), COMPOSED);
  assert.deepEqual(
    COMPOSED.claims.map(({ claimId, text, evidenceIds }) => [claimId, text, evidenceIds]),
    [
      [
        'clm_status-0',
        'Claim C-102 has the status pending_documents, last changed 2026-07-22 14:11:09 UTC.',
        ['ev_s1-0'],
      ],
      ['clm_next-0', 'Next, by rule R-7: “The handler asks for the missing document.”', ['ev_s2-0']],
      ['clm_not-sent-0', 'Nothing was sent.', ['ev_goal-goal-1', 'ev_lease-registry-run-1', 'ev_effect-ledger-run-1']],
    ],
  );
  assert.deepEqual([COMPOSED.unsaid, COMPOSED.missingSteps], [[], []]);
  assert.deepEqual(
    COMPOSED.evidence.map(({ anchor }) => anchor),
    ['claim:C-102', 'policy-rule:R-7', 'goal:goal_1', 'lease-registry:run_1', 'effect-ledger:run_1'],
  );
});

test('what is composed passes the check', () => {
  assert.deepEqual(checkAnswer(COMPOSED, compositionOf()), []);
});

test('sentences are said in the language of the goal, else in English', () => {
  const japanese = SETTLED.map((draft): EventDraft =>
    draft.kind === 'goal.frozen'
      ? { ...draft, body: { ...draft.body, goal: { ...GOAL, statement: { text: 'なぜ', language: 'ja' } } } }
      : draft,
  );
  const answer = composeAnswer(compositionOf(japanese));
  assert.equal(answer.language, 'ja');
  assert.deepEqual(answer.claims.map(({ text }) => text).slice(0, 2), [
    '請求 C-102 は pending_documents（2026-07-22 14:11:09 UTC）。',
    'Next, by rule R-7: “The handler asks for the missing document.”',
  ]);
  assert.deepEqual(checkAnswer(answer, compositionOf(japanese)), []);
  const french = sentence({ sentence: { fr: 'Le statut est {status}.' } });
  assert.equal(first(composeAnswer(withSentences([french])).claims).text, 'Le statut est pending_documents.');
});

test('a run without a goal says nothing', () => {
  const answer = composeAnswer(compositionOf(OPENING.slice(0, 1)));
  assert.deepEqual([answer.language, answer.claims, answer.unsaid], ['en', [], []]);
});

test('a step that failed, was skipped or has not ended is listed with what a reader loses', () => {
  const error = {
    code: 'ERR_TEAM_UNREACHABLE',
    kind: 'unavailable',
    message: 'The knowledge team did not answer.',
    at: 'a2a',
    retryable: true,
  } as const;
  const failed = artifactOf('s2', (a) => {
    delete a.data;
    Object.assign(a, { status: 'failed', evidence: [], records: {}, errors: [error] });
  });
  const skip: EventDraft = {
    kind: 'step.skipped',
    body: { stepId: 's3', planVersion: 1, because: ['s2'], reason: 'It needs s2.' },
  };
  const drafts = [...OPENING, ...begun('s1'), ...settled(artifactOf('s1')), ...begun('s2'), ...settled(failed), skip];
  const answer = composeAnswer(compositionOf(drafts));
  assert.deepEqual(
    answer.claims.map(({ key }) => key),
    ['status', 'not-sent'],
  );
  assert.deepEqual(answer.unsaid, [
    { key: 'next', reason: 'step_missing', stepIds: ['s2'], impact: 'What happens next is not known.' },
  ]);
  assert.deepEqual(answer.missingSteps, [
    {
      stepId: 's2',
      team: 'knowledge',
      skillId: 'policy-guidance',
      status: 'failed',
      reason: 'The knowledge team did not answer.',
      impact: 'What happens next is not known.',
    },
    {
      stepId: 's3',
      team: 'notification',
      skillId: 'draft-notice',
      status: 'skipped',
      reason: 'It needs s2.',
      impact: '',
    },
  ]);
  const open = composeAnswer(compositionOf([...OPENING, ...begun('s1'), ...settled(artifactOf('s1'))]));
  assert.deepEqual(
    open.missingSteps.map(({ status, reason }) => [status, reason]),
    [
      ['skipped', 'It was ready when the run was decided.'],
      ['skipped', 'It was pending when the run was decided.'],
    ],
  );
});

test('nothing found is told from a missing step, and partial data is still used', () => {
  const empty = artifactOf('s1', (a) => {
    delete a.data;
    Object.assign(a, { status: 'no_data', evidence: [], records: {}, missing: ['claim C-102'] });
  });
  assert.deepEqual(reasons(withSentences([STATUS], empty)), [['status', 'no_data', ['s1'], undefined]]);
  assert.equal(first(composeAnswer(withSentences([STATUS], empty)).missingSteps).reason, 'Missing: claim C-102.');
  const partial = artifactOf('s1', (a) => (a.status = 'partial'));
  const answer = composeAnswer(withSentences([STATUS], partial));
  assert.deepEqual(
    [answer.claims.length, first(answer.missingSteps)],
    [
      1,
      {
        stepId: 's1',
        team: 'claims',
        skillId: 'claim-status',
        status: 'partial',
        reason: 'It ended as partial.',
        impact: '',
      },
    ],
  );
});

test('a sentence that no step of the plan bears is missing', () => {
  const drafts = [...opening([STATUS], (plan) => (plan.claims = [])), ...begun('s1'), ...settled(artifactOf('s1'))];
  assert.deepEqual(reasons(compositionOf(drafts)), [['status', 'step_missing', [], undefined]]);
});

test('a slot that does not resolve, or whose value does not fit, refuses the sentence; an empty one leaves it unsaid', () => {
  const slot = { anchorType: 'claim', pointer: '/status', format: 'code' } as const;
  const only = (value: Partial<Record<keyof typeof slot, string>>, text = 'The status is {s}.'): ClaimTemplate =>
    sentence({ sentence: { en: text }, slots: { s: { ...slot, ...value } as typeof slot } });
  assert.deepEqual(reasons(withSentences([only({ pointer: '/nowhere' })])), [
    ['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER'],
  ]);
  assert.deepEqual(reasons(withSentences([only({ format: 'date' })])), [
    ['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER'],
  ]);
  assert.deepEqual(reasons(withSentences([only({}, 'The status is {other}.')])), [
    ['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER'],
  ]);
  assert.deepEqual(reasons(withSentences([only({ anchorType: 'policy-rule' })])), [
    ['status', 'no_data', ['s1'], undefined],
  ]);
  const record = { claim_id: 'C-102', status: '', updated_at: 'x' };
  const bare = artifactOf('s1', (a) => {
    a.records['ev_s1-0'] = record;
    first(a.evidence).digest = digestOf(record);
  });
  assert.deepEqual(reasons(withSentences([only({})], bare)), [['status', 'no_data', ['s1'], undefined]]);
});

test('a record that is not what its evidence says is not used', () => {
  const composition = compositionOf();
  const forged = {
    ...composition,
    records: {
      ...composition.records,
      'ev_s1-0': { claim_id: 'C-102', status: 'paid', updated_at: '2026-07-22T14:11:09Z' },
    },
  };
  assert.deepEqual(reasons(forged), [['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER']]);
  assert.deepEqual(codes(COMPOSED, forged), ['ERR_CLAIM_POINTER', 'ERR_CLAIM_POINTER', 'ERR_CLAIM_POINTER']);
  const { 'ev_s1-0': _, ...without } = composition.records;
  assert.deepEqual(reasons({ ...composition, records: without }), [['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER']]);
});

/** Two claims and their documents, observed by one step. */
const PAIRED = artifactOf('s1', (a) => {
  const add = (index: number, anchor: string, record: Record<string, string | string[]>): void => {
    a.evidence[index] = { ...first(a.evidence), evidenceId: `ev_s1-${index}`, anchor, digest: digestOf(record) };
    a.records[`ev_s1-${index}`] = record;
  };
  add(1, 'claim:C-103', { claim_id: 'C-103', status: 'paid', updated_at: '2026-07-01T00:00:00Z' });
  add(2, 'claim-documents:C-103', { claim_id: 'C-103', missing: ['none_left'] });
  add(3, 'claim-documents:C-102', { claim_id: 'C-102', missing: ['accident_report'] });
});

test('a sentence is said once for each record that bears it, with the record of the same id beside it', () => {
  assert.deepEqual(
    composeAnswer(withSentences([STATUS], PAIRED)).claims.map(({ claimId, slots }) => [claimId, slots['claim']?.value]),
    [
      ['clm_status-0', 'C-102'],
      ['clm_status-1', 'C-103'],
    ],
  );
  const both = sentence({
    sentence: { en: '{claim} lacks {documents}.' },
    slots: {
      claim: { anchorType: 'claim', pointer: '/claim_id', format: 'identifier' },
      documents: { anchorType: 'claim-documents', pointer: '/missing', format: 'list' },
    },
  });
  const composition = withSentences([both], PAIRED);
  const answer = composeAnswer(composition);
  assert.deepEqual(
    answer.claims.map(({ text }) => text),
    ['C-102 lacks accident_report.', 'C-103 lacks none_left.'],
  );
  assert.deepEqual(checkAnswer(answer, composition), []);
});

test('where the record beside it cannot be told, the sentence is refused', () => {
  const both = sentence({
    sentence: { en: '{documents} of {claim}.' },
    slots: {
      documents: { anchorType: 'claim-documents', pointer: '/missing', format: 'list' },
      claim: { anchorType: 'claim', pointer: '/claim_id', format: 'identifier' },
    },
  });
  const strangers = changed(PAIRED, (a) => {
    for (const [index, item] of a.evidence.entries()) if (index > 1) item.anchor = `claim-documents:D-${index}`;
  });
  assert.deepEqual(reasons(withSentences([both], strangers)), [['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER']]);
  const single = changed(strangers, (a) => a.evidence.splice(1, 1));
  assert.equal(composeAnswer(withSentences([both], single)).claims.length, 2);
});

test('a sentence without slots rests on all that its step observed', () => {
  const plain = sentence({ sentence: { en: 'The claim was read.' }, slots: {} });
  const composition = withSentences([plain]);
  const answer = composeAnswer(composition);
  assert.deepEqual(first(answer.claims).evidenceIds, ['ev_s1-0', 'ev_s1-1']);
  assert.deepEqual(checkAnswer(answer, composition), []);
  const nothing = artifactOf('s1', (a) => Object.assign(a, { evidence: [], records: {} }));
  assert.deepEqual(reasons(withSentences([plain], nothing)), [['status', 'no_data', ['s1'], undefined]]);
});

test('a sentence that has no words, or gives too many, is refused', () => {
  const wordless = sentence({ sentence: {}, slots: {} });
  assert.deepEqual(reasons(withSentences([wordless])), [['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER']]);
  const record = { claim_id: 'C-102', status: 's'.repeat(8_000), updated_at: '2026-07-22T14:11:09Z' };
  const long = artifactOf('s1', (a) => {
    a.records['ev_s1-0'] = record;
    first(a.evidence).digest = digestOf(record);
  });
  const thrice = sentence({ sentence: { en: '{status} {status} {status}' } });
  assert.deepEqual(reasons(withSentences([thrice], long)), [['status', 'refused', ['s1'], 'ERR_CLAIM_POINTER']]);
});

test('a missing step whose sentences declare no impact has none', () => {
  const { impact: _, ...silent } = STATUS;
  const empty = artifactOf('s1', (a) => {
    delete a.data;
    Object.assign(a, { status: 'no_data', evidence: [], records: {} });
  });
  const answer = composeAnswer(withSentences([silent], empty));
  assert.deepEqual([first(answer.missingSteps).impact, first(answer.unsaid).impact], ['', '']);
});

test('an inference says how uncertain it is, and confidence is that of the weakest observation', () => {
  const unsure = artifactOf('s1', (a) => (first(a.evidence).confidence = 0.6));
  const composition = withSentences([sentence({ kind: 'inference' })], unsure);
  const answer = composeAnswer(composition);
  const claim = first(answer.claims);
  assert.deepEqual([claim.kind, claim.uncertainty, claim.confidence], ['inference', INFERENCE_UNCERTAINTY, 0.6]);
  assert.deepEqual(checkAnswer(answer, composition), []);
});

test('an absence is said only with a proof that holds', () => {
  const planted = compositionOf(SETTLED, ARTIFACTS, { effects: [ROW] });
  assert.deepEqual(reasons(planted), [['not-sent', 'proof_failed', [], undefined]]);
  // And one who says it all the same is refused.
  assert.deepEqual(
    codes(COMPOSED, planted).filter((code) => code === 'ERR_CLAIM_PROOF'),
    ['ERR_CLAIM_PROOF'],
  );
  assert.deepEqual(reasons({ ...compositionOf(), proofs: {} }), [['not-sent', 'proof_failed', [], undefined]]);
  const slotted = sentence({ kind: 'absence', absentAction: 'notify:send' });
  assert.deepEqual(reasons(withSentences([slotted])), [['status', 'refused', [], undefined]]);
  const actionless = sentence({ kind: 'absence', slots: {} });
  assert.deepEqual(reasons(withSentences([actionless])), [['status', 'proof_failed', [], undefined]]);
});

export function codes(answer: Answer, composition: Composition = compositionOf()): readonly string[] {
  return checkAnswer(answer, composition).map(({ code }) => code);
}
