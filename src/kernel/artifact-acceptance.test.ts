import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARTIFACT_BYTES_MAX, type Acceptance, type Artifact } from '#contracts/artifact.ts';
import { acceptArtifact, type ExpectedArtifact } from './artifact-acceptance.ts';
import { artifactOf, begun, OPENING, SETTLED, settled, stateOf } from './claims-run.test.ts';
import { changed, SNAPSHOT, type SKILLS } from './claims-world.test.ts';
import { digestOf } from './digest.ts';

/** What the consumer knows of step s1, or of another, when the artifact arrives. */
function expectedOf(stepId = 's1', change: (skill: (typeof SKILLS)[number]) => void = () => {}): ExpectedArtifact {
  const before = stepId === 's1' ? OPENING : SETTLED.slice(0, SETTLED.length - 7);
  const state = stateOf([...before, ...begun(stepId)]);
  const step = state.steps.get(stepId);
  const attempt = step?.attempts[0];
  assert.ok(step !== undefined && attempt !== undefined);
  const card = SNAPSHOT.cards.find(({ team }) => team === step.definition.team);
  return { state, step: { ...step, skill: changed(step.skill, change) }, attempt, card };
}

function said(acceptance: Acceptance): readonly string[] {
  return acceptance.verdict === 'accepted' ? ['accepted'] : [acceptance.verdict, acceptance.error.code];
}

function verdict(change: (artifact: Artifact) => void, expected = expectedOf()): readonly string[] {
  return said(acceptArtifact(artifactOf('s1', change), expected));
}

function first<T>(list: readonly T[]): T {
  const [value] = list;
  assert.ok(value !== undefined, 'the list is not empty');
  return value;
}

test('a clean artifact is accepted', () => {
  assert.deepEqual(
    verdict(() => {}),
    ['accepted'],
  );
  assert.deepEqual(said(acceptArtifact(artifactOf('s3'), expectedOf('s3'))), ['accepted']);
});

const QUARANTINED: readonly (readonly [code: string, sentence: string, change: (artifact: Artifact) => void])[] = [
  ['ERR_ARTIFACT_BINDING', 'another dispatch', (a) => (a.binding.dispatchId = 'dsp_s9')],
  ['ERR_ARTIFACT_BINDING', 'another step', (a) => (a.binding.stepId = 's2')],
  ['ERR_ARTIFACT_BINDING', 'another plan version', (a) => (a.binding.planVersion = 2)],
  ['ERR_ARTIFACT_BINDING', 'another attempt', (a) => (a.binding.attempt = 2)],
  ['ERR_ARTIFACT_BINDING', 'another task', (a) => (a.binding.taskId = 'task-9')],
  ['ERR_ARTIFACT_BINDING', 'another context', (a) => (a.binding.contextId = 'ctx-9')],
  ['ERR_ARTIFACT_BINDING', 'another lease', (a) => (a.binding.leaseId = 'lse_9')],
  ['ERR_ARTIFACT_PRODUCER', 'another team', (a) => (a.producer.team = 'knowledge')],
  ['ERR_ARTIFACT_PRODUCER', 'another workload', (a) => (a.producer.workload = 'spiffe://caseops.test/team/thief')],
  [
    'ERR_ARTIFACT_SIZE',
    'more than it may carry',
    (a) => (a.missing = Array(100).fill('x'.repeat(ARTIFACT_BYTES_MAX / 99))),
  ],
  [
    'ERR_ARTIFACT_SCHEMA',
    'a member that no schema names',
    (a) => Object.assign(a.data as object, { note: 'approve it' }),
  ],
  ['ERR_ARTIFACT_EVIDENCE', 'no evidence', (a) => Object.assign(a, { evidence: [], records: {} })],
  ['ERR_ARTIFACT_EVIDENCE', 'a tool that the skill does not have', (a) => (first(a.toolCalls).tool = 'send-mail')],
  ['ERR_ARTIFACT_EVIDENCE', 'a tool of another server', (a) => (first(a.toolCalls).server = 'mail')],
  ['ERR_ARTIFACT_EVIDENCE', 'a tool under another version', (a) => (first(a.toolCalls).contractVersion = '2.0.0')],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'a tool under another digest',
    (a) => (first(a.toolCalls).contractDigest = digestOf('drifted')),
  ],
  ['ERR_ARTIFACT_EVIDENCE', 'a call named twice', (a) => a.toolCalls.push(first(a.toolCalls))],
  ['ERR_ARTIFACT_EVIDENCE', 'the same evidence twice', (a) => a.evidence.push(first(a.evidence))],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'the same observation under two ids',
    (a) => {
      a.evidence.push({ ...first(a.evidence), evidenceId: 'ev_copy' });
      a.records['ev_copy'] = a.records['ev_s1-0'] ?? null;
    },
  ],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'a record that no evidence names',
    (a) => (a.records['ev_loose'] = { instruction: 'send it' }),
  ],
  ['ERR_ARTIFACT_EVIDENCE', 'evidence without its record', (a) => delete a.records['ev_s1-0']],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'a record changed after it was observed',
    (a) => (a.records['ev_s1-0'] = { claim_id: 'C-102', status: 'closed' }),
  ],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'evidence of a kind the skill may not bring',
    (a) => (first(a.evidence).anchor = 'rumour:C-102'),
  ],
  ['ERR_ARTIFACT_EVIDENCE', "another claim's record", (a) => (first(a.evidence).anchor = 'claim:C-103')],
  ['ERR_ARTIFACT_EVIDENCE', 'evidence that names no call', (a) => delete first(a.evidence).callId],
  ['ERR_ARTIFACT_EVIDENCE', 'evidence of a call that is not there', (a) => (first(a.evidence).callId = 'call_9')],
  ['ERR_ARTIFACT_EVIDENCE', 'evidence of a call that failed', (a) => (first(a.toolCalls).outcome = 'tool_error')],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'an observation from the future',
    (a) => (first(a.evidence).observedAt = '2026-07-22T15:00:06.000Z'),
  ],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'an observation at no time',
    (a) => (first(a.evidence).observedAt = '2026-99-22T15:00:06.000Z'),
  ],
  [
    'ERR_ARTIFACT_EVIDENCE',
    'an observation that the goal calls stale',
    (a) => (first(a.evidence).observedAt = '2026-07-22T14:58:59.999Z'),
  ],
];

for (const [code, sentence, change] of QUARANTINED)
  test(`an artifact with ${sentence} is quarantined`, () => {
    assert.deepEqual(verdict(change), ['quarantined', code]);
  });

test('one changed byte is quarantined, also when the digest of the evidence still holds', () => {
  const artifact = artifactOf('s1');
  const altered = { ...artifact, producedAt: '2026-07-22T15:00:00.001Z' };
  assert.deepEqual(said(acceptArtifact(altered, expectedOf())), ['quarantined', 'ERR_ARTIFACT_DIGEST']);
  const provenance = changed(artifact, (a) => (first(a.evidence).source = 'other-db'));
  assert.deepEqual(said(acceptArtifact(provenance, expectedOf())), ['quarantined', 'ERR_ARTIFACT_DIGEST']);
});

test('an artifact that has no canonical form is quarantined', () => {
  const artifact = { ...artifactOf('s1'), data: { cause: Number.NaN } };
  assert.deepEqual(said(acceptArtifact(artifact, expectedOf())), ['quarantined', 'ERR_ARTIFACT_DIGEST']);
});

test('nothing is accepted of a team without a card', () => {
  const { state, step, attempt } = expectedOf();
  const acceptance = acceptArtifact(artifactOf('s1'), { state, step, attempt, card: undefined });
  assert.deepEqual(said(acceptance), ['quarantined', 'ERR_ARTIFACT_PRODUCER']);
});

test('nothing is accepted before the task is known', () => {
  const expected = expectedOf();
  const acceptance = acceptArtifact(artifactOf('s1'), {
    ...expected,
    attempt: { ...expected.attempt, taskId: undefined },
  });
  assert.deepEqual(said(acceptance), ['quarantined', 'ERR_ARTIFACT_BINDING']);
});

const REJECTED: readonly (readonly [code: string, sentence: string, change: (artifact: Artifact) => void])[] = [
  ['ERR_ARTIFACT_SCHEMA', 'another skill', (a) => (a.skillId = 'send-notice')],
  ['ERR_ARTIFACT_SCHEMA', 'another skill version', (a) => (a.skillVersion = '1.0.1')],
  ['ERR_ARTIFACT_SCHEMA', 'another schema', (a) => (a.schemaId = 'other')],
  ['ERR_ARTIFACT_SCHEMA', 'another schema version', (a) => (a.schemaVersion = '2.0.0')],
  ['ERR_ARTIFACT_SCHEMA', 'data that its schema refuses', (a) => (a.data = { cause: 1, missing_documents: 'x' })],
  ['ERR_ARTIFACT_SCHEMA', 'data that lacks a member', (a) => (a.data = { cause: 'x' })],
  ['ERR_ARTIFACT_MISSING', 'the status completed and no data', (a) => delete a.data],
  ['ERR_ARTIFACT_SCHEMA', 'the status no_data and data', (a) => (a.status = 'no_data')],
];

for (const [code, sentence, change] of REJECTED)
  test(`an artifact with ${sentence} is rejected`, () => {
    assert.deepEqual(verdict(change), ['rejected', code]);
  });

test('the message names where the data breaks its schema, never the data', () => {
  const acceptance = acceptArtifact(
    artifactOf('s1', (a) => (a.data = { cause: 'secret', missing_documents: 7 })),
    expectedOf(),
  );
  assert.ok(acceptance.verdict === 'rejected');
  assert.deepEqual(acceptance.error.detail, { pointers: ['/missing_documents'] });
  assert.ok(!acceptance.error.message.includes('secret'));
  const whole = acceptArtifact(
    artifactOf('s1', (a) => (a.data = 'text')),
    expectedOf(),
  );
  assert.ok(whole.verdict === 'rejected');
  assert.deepEqual(whole.error.detail, { pointers: ['/'] });
});

test('INV-01: nothing found is no_data, and needs no evidence', () => {
  const acceptance = verdict((a) => {
    delete a.data;
    Object.assign(a, { status: 'no_data', evidence: [], records: {}, missing: ['claim C-102'] });
  });
  assert.deepEqual(acceptance, ['accepted']);
});

test('a skill without tools brings evidence that no call observed', () => {
  const expected = expectedOf('s1', (skill) => (skill.toolContracts = []));
  const acceptance = verdict((a) => {
    a.toolCalls = [];
    for (const item of a.evidence) delete item.callId;
  }, expected);
  assert.deepEqual(acceptance, ['accepted']);
});

test('a step whose input no longer resolves is about nothing', () => {
  const expected = expectedOf();
  const state = { ...expected.state, goal: undefined };
  assert.deepEqual(
    verdict(() => {}, { ...expected, state }),
    ['quarantined', 'ERR_ARTIFACT_EVIDENCE'],
  );
});

/** An observation made years before. */
const old = (a: Artifact): void => {
  first(a.evidence).observedAt = '2020-01-01T00:00:00Z';
};

test('a goal without a bound on age takes observations of any age', () => {
  const expected = expectedOf();
  const goal = changed(expected.state.goal, (g) => Object.assign(g?.evidencePolicy ?? {}, { observationAgeMsMax: 0 }));
  assert.deepEqual(verdict(old, { ...expected, state: { ...expected.state, goal } }), ['accepted']);
  const unknown = { ...expected.step, skill: changed(expected.step.skill, (skill) => (skill.resources = [])) };
  assert.deepEqual(verdict(old, { ...expected, step: unknown, state: { ...expected.state, goal: undefined } }), [
    'accepted',
  ]);
});

test('the events of an accepted artifact are lawful', () => {
  assert.equal(stateOf([...OPENING, ...begun('s1'), ...settled(artifactOf('s1'))]).steps.get('s1')?.phase, 'settled');
});
