import { CaseOpsError } from '#contracts/error.ts';
import type { GoalContract } from '#contracts/goal.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { Ids } from '#ports/ids.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkedIntake, checkProhibitions } from './check-prohibitions.ts';
import { createRulesIntake } from './intake.ts';
import { readNegations } from './prohibitions.ts';

const SENDING = {
  action: 'notify:send',
  phrases: {
    en: ['\\b(send|sent|sending|notify|notified|notifying|contact|contacted|contacting|e-?mail|mail|message)'],
    ja: ['送', '通知', '連絡', 'メール'],
  },
};
const UPDATING = {
  action: 'claims:update',
  phrases: { en: ['\\b(update|updating|change|changing|approve|reject|close)'], ja: ['更新', '変更', '承認'] },
};
const CLAIM_ID = {
  kind: 'claim_id',
  pattern: '(?<![A-Za-z0-9])C-\\d{1,6}(?![0-9])',
  question: { en: 'Which claim is meant?', ja: 'どの請求ですか。' },
} as const;
const base = {
  version: '1.0.0',
  subject: { type: 'claim', entity: 'claim_id' },
  prohibitions: [SENDING, UPDATING],
  alwaysProhibitedActions: [],
  constraints: ['evidence-required'],
  budget: {
    stepCountMax: 12,
    modelTokenCountMax: 0,
    toolCallCountMax: 24,
    concurrencyMax: 4,
    deadlineMs: 9_000,
    replanCountMax: 2,
  },
  observationAgeMsMax: 0,
} as const;
const inquiry: GoalKind = {
  ...base,
  kind: 'claim-inquiry',
  purpose: 'claim-inquiry',
  recognise: { en: [['\\bwhy\\b|\\bmissing\\b|\\bfind out\\b|\\binvestigate\\b']], ja: [['なぜ|理由|不足|調べ|調査']] },
  entities: [{ ...CLAIM_ID, cardinality: 'one' }],
  outputs: [
    { kind: 'cause', required: true },
    {
      kind: 'notice-draft',
      required: false,
      when: { en: ['\\bdraft', '\\bnotif', '\\bletter'], ja: ['下書き', '通知'] },
    },
  ],
  claims: [
    {
      key: 'draft',
      kind: 'fact',
      output: 'notice-draft',
      sentence: { en: 'Drafted: {text}.', ja: '下書き：{text}。' },
      slots: { text: { anchorType: 'notice-draft', pointer: '/text', format: 'quote' } },
    },
    {
      key: 'not-sent',
      kind: 'absence',
      absentAction: 'notify:send',
      sentence: { en: 'Nothing was sent.', ja: '何も送信されていません。' },
      slots: {},
    },
  ],
};
const portfolio: GoalKind = {
  ...base,
  kind: 'claim-portfolio',
  purpose: 'claim-portfolio',
  recognise: { en: [['\\bstatus\\b|\\boverview\\b', 'C-\\d+']], ja: [['状態|一覧', 'C-\\d+']] },
  entities: [{ ...CLAIM_ID, cardinality: 'several' }],
  outputs: [{ kind: 'cause', required: true, forEach: 'claim_id' }],
  claims: [],
};
const kinds = [inquiry, portfolio];
const identity = { tenant: 't9', subject: 'requester@t9', sessionId: 'ses_1' };
const bounds = { signal: new AbortController().signal, modelTokenCountMax: 0 };

function counting(): Ids {
  let count = 0;
  return { next: (kind) => `${kind}_${(count += 1)}` as never };
}

async function read(text: string, given: Readonly<Record<string, string>> = {}, language?: string) {
  const intake = createRulesIntake({ kinds, ids: counting() });
  return intake.read({ text, language, given, identity, at: '2026-12-01T00:00:00.000Z' }, bounds);
}

async function goalOf(text: string, given: Readonly<Record<string, string>> = {}): Promise<GoalContract> {
  const intake = await read(text, given);
  if (intake.kind === 'question') assert.fail(`${text} → ${intake.blocked.wants}: ${intake.blocked.question}`);
  return intake.goal;
}

const C102 =
  'Find out why C-102 has not been completed and tell me what is missing. If the customer needs to be notified, generate a notification draft first; do not send it directly.';
const C102_JA =
  'C-102が完了していない理由と、不足しているものを教えてください。顧客への通知が必要な場合は、まず通知文の下書きを作成し、直接送信しないでください。';

/** Text → the actions it prohibits, in order; a word after `?` is the question that must be asked instead. */
const TABLE: readonly (readonly [text: string, expected: string])[] = [
  [C102, 'notify:send'],
  [C102_JA, 'notify:send'],
  [
    'C-102 が完了していない理由と不足書類を調べてください。通知が必要なら下書きだけ作り、直接送らないでください。',
    'notify:send',
  ],
  ['Why has C-102 not been completed?', ''],
  ['Why is C-102 not completed, and why was the notice not sent?', ''],
  ['Why has C-102 not been completed? Don’t send anything.', 'notify:send'],
  ['tell me why C-102 is not completed do not send anything', 'notify:send'],
  ['Investigate C-102. Do **not** send it.', 'notify:send'],
  ['Investigate C-102. do\nnot\nsend', 'notify:send'],
  ['Investigate C-102. D\u200bo n\u200bot send it.', 'notify:send'],
  ['Make sure the customer is not notified. Why is C-102 stuck?', 'notify:send'],
  ['I don’t want you to contact the customer. Why is C-102 stuck?', 'notify:send'],
  ['Find out why C-102 is stuck; nothing must be sent.', 'notify:send'],
  ['Sending is forbidden. What is missing for C-102?', 'notify:send'],
  ['What is missing for C-102? No e-mails to the customer.', 'notify:send'],
  ['Investigate C-102 without notifying the customer.', 'notify:send'],
  ['Investigate C-102 and avoid contacting the member.', 'notify:send'],
  ['Investigate C-102; refrain from mailing and stop updating the record.', 'claims:update,notify:send'],
  ['Investigate C-102, you must not change it and you mustn’t mail.', 'claims:update,notify:send'],
  ['Investigate C-102. The customer should not be contacted.', 'notify:send'],
  ['Investigate C-102. The notice cannot be sent before I have seen it.', 'notify:send'],
  ['Investigate C-102, draft a letter rather than sending it.', 'notify:send'],
  ['Investigate C-102. Never send, never update.', 'claims:update,notify:send'],
  ['Investigate C-102. Do not send it without asking me first.', 'notify:send'],
  ['Remember not to notify anyone. Investigate C-102.', 'notify:send'],
  ['Find out why C-102 cannot be completed.', ''],
  ['I do not know why C-102 is stuck.', ''],
  ['No later than Friday: why is C-102 open?', ''],
  ['Customer called, no answer. Why is C-102 on hold?', ''],
  ['What is missing for claim no. 12, C-102?', ''],
  ['Why is C-102 open? Do not delete the record.', '?prohibition_1'],
  ['Why is C-102 open? Notify me and do not cancel the policy.', '?prohibition_1'],
  ['Why is C-102 open? Tell no one.', '?prohibition_1'],
  ['Why is C-102 open? Bitte nicht löschen.', '?prohibition_1'],
  ['Why is C-102 open? Send it to the customer. Do not send it.', '?contradiction'],
  ['C-102の理由を調べて、顧客に送ってください。送らないでください。', '?contradiction'],
  ['C-102を調査してください。メールは送らないで。', 'notify:send'],
  ['C-102を調査してください。顧客への連絡は、私が確認するまで、しないでください。', 'notify:send'],
  ['C-102の件を調査。通知は禁止です。', 'notify:send'],
  ['C-102について顧客に連絡せずに理由を調べてください。', 'notify:send'],
  ['C-102の理由を調べ、通知は控えてください。', 'notify:send'],
  ['C-102の理由を調べて、送るな。', 'notify:send'],
  ['送信してはいけない。C-102の理由は？', 'notify:send'],
  ['C-102の理由を調べて。メール、電話、送信はしないでください。', 'notify:send'],
  ['Ｃ－１０２の記録を更新しなければならない理由は？', ''],
  ['C-102の書類が届いていない理由は？', ''],
  ['C-102の理由を調べて、削除しないでください。', '?prohibition_1'],
  ['Why is the claim open?', '?claim_id'],
  ['Why are C-102 and C-103 open?', '?claim_id'],
  ['Tell me a joke about C-102.', '?goal_kind'],
  ['Почему C-102 не завершено?', '?language'],
];

for (const [text, expected] of TABLE)
  test(`intake reads ${JSON.stringify(text.slice(0, 90))} as ${expected === '' ? 'no prohibition' : expected}`, async () => {
    const intake = await read(text);
    const got = intake.kind === 'question' ? `?${intake.blocked.wants}` : intake.goal.prohibitedActions.join(',');
    assert.equal(got, expected, intake.kind === 'question' ? intake.blocked.question : text);
  });

test('the same goal in English and in Japanese has the same digest', async () => {
  assert.equal(goalDigest(await goalOf(C102)), goalDigest(await goalOf(C102_JA)));
});

test('an output that only a prohibition mentions is not asked for, nor is its sentence', async () => {
  const without = await goalOf('Investigate C-102. Do not notify the customer.');
  assert.deepEqual(without.requestedOutputs, [{ kind: 'cause', required: true }]);
  assert.deepEqual(
    without.claims.map(({ key }) => key),
    ['not-sent'],
  );
  const asked = await goalOf(C102);
  assert.deepEqual(
    asked.requestedOutputs.map(({ kind }) => kind),
    ['cause', 'notice-draft'],
  );
});

test('several values of one entity are sorted and make one output per value', async () => {
  const goal = await goalOf('Status of C-103, C-102 and C-103 please');
  assert.equal(goal.kind, 'claim-portfolio');
  assert.deepEqual(goal.entities, { claim_id: ['C-102', 'C-103'] });
  assert.deepEqual(goal.requestedOutputs, [{ kind: 'cause', required: true, forEach: 'claim_id' }]);
});

test('an answer to the question clears it, and a wrong answer asks again', async () => {
  assert.deepEqual((await goalOf('Why is the claim open?', { claim_id: 'C-7' })).entities, { claim_id: 'C-7' });
  const again = await read('Why is the claim open?', { claim_id: 'seven' });
  assert.equal(again.kind, 'question');
  assert.equal((await goalOf('Please look at C-102.', { goal_kind: 'claim-inquiry' })).kind, 'claim-inquiry');
});

test('an unmapped prohibition is answered with an action or with none, never by silence', async () => {
  const text = 'Why is C-102 open? Do not bother anybody.';
  const asked = await read(text);
  assert.ok(asked.kind === 'question' && asked.blocked.question.includes('Do not bother anybody'));
  assert.deepEqual(asked.blocked.options, ['claims:update', 'notify:send', 'none']);
  assert.deepEqual((await goalOf(text, { prohibition_1: 'notify:send' })).prohibitedActions, ['notify:send']);
  assert.deepEqual((await goalOf(text, { prohibition_1: 'none' })).prohibitedActions, []);
  assert.equal((await read(text, { prohibition_1: 'yes' })).kind, 'question');
});

test('a contradiction can only be resolved by keeping the prohibition', async () => {
  const text = 'Why is C-102 open? Send it to the customer. Do not send it.';
  assert.equal((await read(text, { contradiction: 'send' })).kind, 'question');
  assert.deepEqual((await goalOf(text, { contradiction: 'keep_prohibited' })).prohibitedActions, ['notify:send']);
});

test('text that is blank, too long, has a NUL or a lone surrogate is refused with its own code', async () => {
  const codes: Readonly<Record<string, string>> = {
    '  ': 'ERR_GOAL_TEXT',
    [`why C-102 ${'x'.repeat(20_000)}`]: 'ERR_GOAL_TOO_LARGE',
    'why C-102\u0000': 'ERR_GOAL_TEXT',
    'why C-102 \ud800': 'ERR_GOAL_TEXT',
  };
  for (const [text, code] of Object.entries(codes))
    await assert.rejects(read(text), (error) => error instanceof CaseOpsError && error.code === code);
});

test('a goal that lost a prohibition is refused whoever proposed it', async () => {
  const honest = await goalOf(C102);
  const softened = { ...honest, prohibitedActions: [] };
  assert.equal(checkProhibitions(honest, C102, { kinds }), undefined);
  assert.equal(checkProhibitions(softened, C102, { kinds })?.code, 'ERR_PROHIBITION_LOST');
  assert.equal(checkProhibitions({ ...honest, kind: 'other' }, C102, { kinds })?.code, 'ERR_GOAL_CONTRACT');
  const model = checkedIntake({ read: () => Promise.resolve({ kind: 'goal', goal: softened, language: 'en' }) }, kinds);
  const request = { text: C102, language: undefined, given: {}, identity, at: '2026-12-01T00:00:00.000Z' };
  await assert.rejects(
    model.read(request, bounds),
    (e) => e instanceof CaseOpsError && e.code === 'ERR_PROHIBITION_LOST',
  );
  const foreign = { ...honest, tenant: 't8' };
  const other = checkedIntake({ read: () => Promise.resolve({ kind: 'goal', goal: foreign, language: 'en' }) }, kinds);
  await assert.rejects(other.read(request, bounds), (e) => e instanceof CaseOpsError && e.code === 'ERR_GOAL_CONTRACT');
});

test('"do not send" forbids sending wherever it stands and whatever stands around it', () => {
  const around = fc.constantFrom(
    'Find out why C-102 is not completed',
    'What is missing',
    'the customer has never answered',
    'If the customer needs to be notified, generate a draft first',
    'no documents have arrived',
    'I cannot see it',
    '書類が届いていません',
    'C-102の状態を教えて',
  );
  const forbidding = fc.constantFrom(
    'do not send it',
    'never send it',
    "don't notify her",
    '送らないでください',
    '連絡しないで',
  );
  const joiner = fc.constantFrom('. ', '; ', '\n\n', ', ', ' and ', '。', ' - ');
  fc.assert(
    fc.property(
      fc.array(around, { maxLength: 3 }),
      forbidding,
      fc.array(around, { maxLength: 2 }),
      joiner,
      (a, f, b, j) => {
        const text = [...a, f, ...b].join(j);
        const actions = readNegations(text, inquiry).negations.flatMap((negation) => negation.actions);
        assert.ok(actions.includes('notify:send'), text);
      },
    ),
    { numRuns: 500 },
  );
});

test('a language that no goal kind declares is a usage error that names those there are', async () => {
  await assert.rejects(read(C102, {}, 'xx'), {
    code: 'ERR_USAGE',
    message: /Expected one of en, ja as the language of the goal, got "xx"/,
  });
});

test('a text that fits no kind of goal is asked back with the kinds that there are', async () => {
  const intake = await read('Tell me a joke about C-102.');
  assert.ok(intake.kind === 'question');
  assert.equal(intake.blocked.wants, 'goal_kind');
  for (const kind of intake.blocked.options) assert.ok(intake.blocked.question.includes(kind), kind);
});
