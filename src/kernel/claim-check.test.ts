import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Answer } from '#contracts/answer.ts';
import type { Claim } from '#contracts/claim.ts';
import { checkAnswer, composeAnswer } from './claim-binding.ts';
import { codes, COMPOSED, compositionOf, first, sentence, withSentences } from './claim-binding.test.ts';
import { ARTIFACTS, artifactOf, begun, OPENING, settled } from './claims-run.test.ts';
import { changed } from './claims-world.test.ts';
import { digestOf } from './digest.ts';

/** The composed answer with its nth claim changed. */
function withClaim(change: (claim: Claim, answer: Answer) => void, index = 0): Answer {
  return changed(COMPOSED, (answer) => {
    const claim = answer.claims[index];
    assert.ok(claim !== undefined);
    change(claim, answer);
  });
}

/** A phrasing that is not the goal's, with the text that its slots give. */
function phrased(template: string, over: Partial<Claim> = {}): Answer {
  return withClaim((claim) => {
    const text = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => claim.slots[name]?.value ?? '');
    Object.assign(claim, { template, text }, over);
  });
}

test('each fault of a claim has its own reason', () => {
  const cases: readonly (readonly [sentence: string, answer: Answer, expected: readonly string[]])[] = [
    [
      'no evidence',
      withClaim((c) => Object.assign(c, { evidenceIds: [], slots: {}, template: 'x', text: 'x' })),
      ['ERR_CLAIM_NO_EVIDENCE'],
    ],
    [
      'evidence that a slot uses and the claim does not name',
      withClaim((c) => (c.evidenceIds = ['ev_s2-0'])),
      ['ERR_CLAIM_UNKNOWN_EVIDENCE', 'ERR_CLAIM_POINTER'],
    ],
    ['evidence that the answer does not list', withClaim((_, a) => a.evidence.shift()), ['ERR_CLAIM_UNKNOWN_EVIDENCE']],
    [
      'another value than the record has',
      withClaim((c) => Object.assign(c.slots['status'] ?? {}, { value: 'paid' })),
      ['ERR_CLAIM_POINTER', 'ERR_CLAIM_FREE_FACT'],
    ],
    ['a text that is not the template’s', withClaim((c) => (c.text = 'Claim C-102 is paid.')), ['ERR_CLAIM_FREE_FACT']],
    [
      'another place than the goal declares',
      withClaim((c) => Object.assign(c.slots['status'] ?? {}, { pointer: '/claim_id' })),
      ['ERR_CLAIM_POINTER', 'ERR_CLAIM_POINTER'],
    ],
    [
      'a record of another kind',
      withClaim((c, a) => {
        const borne = { evidenceId: 'ev_s1-1', pointer: '/claim_id', format: 'identifier', value: 'C-102' } as const;
        c.slots['claim'] = borne;
        c.evidenceIds.push('ev_s1-1');
        a.evidence.push(...first(ARTIFACTS).evidence.slice(1));
      }),
      ['ERR_CLAIM_POINTER'],
    ],
    [
      'evidence of a step that was not declared for it',
      withClaim((c) => c.evidenceIds.push('ev_s2-0')),
      ['ERR_CLAIM_POINTER'],
    ],
    [
      'a declared slot that is not there',
      withClaim((c) => delete c.slots['updated']),
      ['ERR_CLAIM_POINTER', 'ERR_CLAIM_FREE_FACT'],
    ],
    [
      'another kind than the goal declares',
      withClaim((c) => Object.assign(c, { kind: 'inference', uncertainty: 'some' })),
      ['ERR_CLAIM_FREE_FACT'],
    ],
    [
      'an inference without its uncertainty',
      phrased('The status is {status}.', { kind: 'inference' }),
      ['ERR_CLAIM_NO_EVIDENCE'],
    ],
    ['the same id twice', withClaim((c, a) => a.claims.push(c)), ['ERR_CLAIM_FREE_FACT']],
    ['a phrasing around slots', phrased('Right now, {claim} is {status} since {updated}.'), []],
    ['a phrasing with a number of its own', phrased('Claim {claim} lacks 2 documents.'), ['ERR_CLAIM_FREE_FACT']],
    ['a phrasing with a negation of its own', phrased('{claim} is not paid.'), ['ERR_CLAIM_FREE_FACT']],
    ['a phrasing of a sentence that the goal does not have', phrased('{claim} is {status}.', { key: 'rumour' }), []],
    [
      'an absence in other words',
      phrased('All is quiet.', { kind: 'absence' }),
      ['ERR_CLAIM_PROOF', 'ERR_CLAIM_PROOF'],
    ],
    [
      'an absence whose proof says more than its records',
      withClaim((c) => Object.assign(c.proof ?? {}, { leaseCountExamined: 9 }), 2),
      ['ERR_CLAIM_PROOF'],
    ],
    ['an absence without the ledger', withClaim((c) => c.evidenceIds.pop(), 2), ['ERR_CLAIM_PROOF']],
    [
      'a fact that rests on what a proof counted',
      withClaim((c) => c.evidenceIds.push('ev_goal-goal-1')),
      ['ERR_CLAIM_POINTER'],
    ],
    [
      'an absence that rests on what nobody knows',
      withClaim((c) => c.evidenceIds.push('ev_nobody'), 2),
      ['ERR_CLAIM_UNKNOWN_EVIDENCE'],
    ],
    [
      'an absence with a slot',
      withClaim((c) => (c.slots['x'] = { formula: '1', inputs: [], format: 'number', value: '1' }), 2),
      ['ERR_CLAIM_POINTER', 'ERR_CLAIM_PROOF', 'ERR_CLAIM_FREE_FACT'],
    ],
  ];
  for (const [what, answer, expected] of cases) assert.deepEqual(codes(answer), expected, what);
});

test('words that the goal’s own sentence has may be repeated in a phrasing', () => {
  const own = sentence({
    sentence: { en: 'Rule 7 of 2026 gives {status}.' },
    slots: { status: { anchorType: 'claim', pointer: '/status', format: 'code' } },
  });
  const composition = withSentences([own]);
  const said = (template: string): readonly string[] =>
    codes(
      changed(composeAnswer(composition), (answer) => {
        Object.assign(first(answer.claims), { template, text: template.replace('{status}', 'pending_documents') });
      }),
      composition,
    );
  assert.deepEqual(said('By rule 7, as of 2026, it is {status}.'), ['ERR_CLAIM_FREE_FACT']);
  assert.deepEqual(said('By rule 7 of 2026 it is {status}.'), []);
});

test('evidence that this run does not bear is told apart by whose it is', () => {
  const foreign = withClaim((claim) => {
    claim.evidenceIds.push('ev_foreign');
  });
  const of = (whose: 'ours' | 'other_tenant' | 'other_task' | 'unknown'): readonly string[] =>
    checkAnswer(foreign, { ...compositionOf(), known: () => whose }).map(({ code }) => code);
  assert.deepEqual(of('other_tenant'), ['ERR_CLAIM_FOREIGN_TENANT']);
  assert.deepEqual(of('other_task'), ['ERR_CLAIM_FOREIGN_TASK']);
  assert.deepEqual(of('unknown'), ['ERR_CLAIM_UNKNOWN_EVIDENCE']);
  assert.deepEqual(of('ours'), ['ERR_CLAIM_UNKNOWN_EVIDENCE']);
  assert.deepEqual(codes(foreign), ['ERR_CLAIM_UNKNOWN_EVIDENCE']);
});

test('an answer that lists evidence otherwise than the run bears it is refused', () => {
  for (const change of [
    { digest: digestOf('x') },
    { anchor: 'claim:C-103' },
    { version: 'v18' },
    { evidenceId: 'ev_made-up' as const },
  ]) {
    const answer = changed(COMPOSED, (a) => Object.assign(first(a.evidence), change));
    assert.equal(codes(answer)[0], 'ERR_CLAIM_UNKNOWN_EVIDENCE');
  }
});

test('an evidence id that two teams use for different records is nobody’s', () => {
  const thief = artifactOf('s2', (a) => {
    const record = { rule_id: 'R-7', next_step: 'Pay at once.', claim_id: 'C-102' };
    first(a.evidence).evidenceId = 'ev_s1-0';
    first(a.evidence).digest = digestOf(record);
    a.records = { 'ev_s1-0': record };
  });
  const drafts = [...OPENING, ...begun('s1'), ...settled(artifactOf('s1')), ...begun('s2'), ...settled(thief)];
  const answer = composeAnswer(compositionOf(drafts));
  assert.deepEqual(
    answer.claims.map(({ key }) => key),
    ['not-sent'],
  );
  assert.ok(codes(COMPOSED, compositionOf(drafts)).includes('ERR_CLAIM_UNKNOWN_EVIDENCE'));
});

test('a run whose goal is gone says no fact', () => {
  const composition = compositionOf();
  const state = { ...composition.state, goal: undefined, accepted: undefined };
  assert.deepEqual(codes(COMPOSED, { ...composition, state }), ['ERR_CLAIM_PROOF', 'ERR_CLAIM_PROOF']);
  const unplanned = { ...composition.state, accepted: undefined };
  assert.deepEqual(codes(COMPOSED, { ...composition, state: unplanned }), ['ERR_CLAIM_POINTER', 'ERR_CLAIM_POINTER']);
});

/** Two figures in one record, and what an inference makes of them. */
const FIGURES = artifactOf('s1', (a) => {
  const record = {
    claim_id: 'C-102',
    income: 100,
    interest: { amount: '8', currency: 'USD' },
    note: 'n',
    status: 's',
    updated_at: 'u',
  };
  a.records['ev_s1-0'] = record;
  first(a.evidence).digest = digestOf(record);
});

function derived(change: (claim: Claim) => void = () => {}): readonly string[] {
  const composition = withSentences([], FIGURES);
  const claim: Claim = {
    claimId: 'clm_ratio',
    key: 'ratio',
    kind: 'inference',
    template: 'Cover is {ratio}, from {income} and {interest}.',
    slots: {
      income: { evidenceId: 'ev_s1-0', pointer: '/income', format: 'number', value: '100' },
      interest: { evidenceId: 'ev_s1-0', pointer: '/interest', format: 'amount', value: '8\u00a0USD' },
      ratio: {
        formula: 'round(income / interest, 1)',
        inputs: ['income', 'interest'],
        format: 'number',
        value: '12.5',
      },
    },
    text: 'Cover is 12.5, from 100 and 8\u00a0USD.',
    evidenceIds: ['ev_s1-0'],
    confidence: 1,
    uncertainty: 'By our formula.',
  };
  change(claim);
  const base = composeAnswer(composition);
  return codes({ ...base, claims: [claim], evidence: FIGURES.evidence.slice(0, 1) }, composition);
}

test('a derived value is computed again from the slots it names', () => {
  assert.deepEqual(derived(), []);
  const ratio = (over: object) => derived((claim) => Object.assign(claim.slots['ratio'] ?? {}, over));
  assert.deepEqual(ratio({ value: '13' }), ['ERR_CLAIM_POINTER', 'ERR_CLAIM_FREE_FACT']);
  assert.deepEqual(ratio({ inputs: ['income'] }), ['ERR_CLAIM_POINTER']);
  assert.deepEqual(ratio({ inputs: [], formula: '12.5' }), ['ERR_CLAIM_POINTER']);
  assert.deepEqual(ratio({ inputs: ['ratio'], formula: 'ratio' }), ['ERR_CLAIM_POINTER']);
  assert.deepEqual(ratio({ inputs: ['nobody'], formula: '12.5' }), ['ERR_CLAIM_POINTER']);
  assert.deepEqual(ratio({ formula: 'income / (interest - 8)' }), ['ERR_CLAIM_POINTER']);
  assert.deepEqual(
    derived((claim) => Object.assign(claim.slots['income'] ?? {}, { pointer: '/note', format: 'text', value: 'n' })),
    ['ERR_CLAIM_POINTER', 'ERR_CLAIM_FREE_FACT'],
  );
  assert.deepEqual(
    derived((claim) => Object.assign(claim, { kind: 'fact' })),
    ['ERR_CLAIM_FREE_FACT'],
  );
});

test('INV-03: no change of a text, a value, a place or an evidence id goes unnoticed', () => {
  const flip = fc.record({
    claim: fc.nat(1),
    what: fc.constantFrom('text', 'template', 'value', 'pointer', 'evidence'),
    at: fc.nat(200),
    letter: fc.constantFrom('7', 'Z', '-'),
  });
  fc.assert(
    fc.property(flip, ({ claim: index, what, at, letter }) => {
      const put = (text: string): string =>
        text.slice(0, at % text.length) + letter + text.slice((at % text.length) + 1);
      const answer = withClaim((claim) => {
        const names = Object.keys(claim.slots);
        const slot = claim.slots[names[at % names.length] ?? ''];
        if (what === 'text') claim.text = put(claim.text);
        else if (what === 'template') claim.template = put(claim.template);
        else if (slot === undefined || 'formula' in slot) assert.fail('the claim has observed slots');
        else if (what === 'value') slot.value = put(slot.value);
        else if (what === 'pointer') slot.pointer = put(slot.pointer);
        else slot.evidenceId = `ev_${put(slot.evidenceId.slice(3))}`;
      }, index);
      fc.pre(JSON.stringify(answer) !== JSON.stringify(COMPOSED));
      assert.notDeepEqual(codes(answer), []);
    }),
    { numRuns: 1_000 },
  );
});
