/** What intake makes of sixty goal texts, of both languages, and of a third that a case adds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedIntake } from '#control/check-prohibitions.ts';
import { createRulesIntake } from '#control/intake.ts';
import { goalDigest } from '#kernel/goal-digest.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { claimInvestigation, claimPortfolio } from '../../cases/claims/goal.ts';
import { GOAL_TEXTS, type GoalText } from './goal-texts.ts';

const KINDS = [claimInvestigation, claimPortfolio];
/** Without what the kinds forbid of themselves: what is left was found in the text. */
const BARE = KINDS.map((kind): GoalKind => ({ ...kind, alwaysProhibitedActions: [] }));
const identity = { tenant: 't9', subject: 'requester@t9', sessionId: 'ses_1' };

function read(text: string, kinds: readonly GoalKind[], language?: string) {
  const intake = checkedIntake(createRulesIntake({ kinds, ids: seededIds('goals') }), kinds);
  const request = { text, language, given: {}, identity, at: '2026-12-01T00:00:00.000Z' };
  return intake.read(request, { signal: new AbortController().signal, modelTokenCountMax: 0 });
}

async function readingOf(text: string): Promise<GoalText['expected']> {
  const intake = await read(text, BARE);
  if (intake.kind === 'question') return { wants: intake.blocked.wants };
  const { kind, entities, prohibitedActions, requestedOutputs } = intake.goal;
  return {
    kind: kind as 'claim_investigation',
    claims: [entities['claim_id'] ?? []].flat(),
    prohibited: prohibitedActions,
    draft: requestedOutputs.some((output) => output.kind === 'notification_draft'),
  };
}

for (const { sort, language, text, expected } of GOAL_TEXTS)
  test(`${sort}, ${language}: ${JSON.stringify(text.slice(0, 80))}`, async () => {
    assert.deepEqual(await readingOf(text), expected);
    const real = await read(text, KINDS);
    assert.equal(real.language, language);
    if (real.kind === 'question')
      return assert.ok(real.blocked.question.length > 10 && real.blocked.code === 'GOAL_UNCLEAR');
    assert.deepEqual(real.goal.prohibitedActions, ['claims:update', 'notify:send']);
  });

test('sixty texts were read: all prohibitions found, each ambiguous one blocked with its question, no hostile one lost one', async (t) => {
  const count = (sort: GoalText['sort'], language: GoalText['language']): number =>
    GOAL_TEXTS.filter((one) => one.sort === sort && one.language === language).length;
  const sorts = ['clear', 'ambiguous', 'hostile'] as const;
  const counted = sorts.map((sort) => `${sort} ${count(sort, 'en')} en + ${count(sort, 'ja')} ja`).join(', ');
  t.diagnostic(`${GOAL_TEXTS.length} goal texts: ${counted}`);
  assert.ok(GOAL_TEXTS.length >= 60);
  assert.equal(new Set(GOAL_TEXTS.map(({ text }) => text)).size, GOAL_TEXTS.length);
  for (const sort of sorts) assert.ok(count(sort, 'en') >= 10 && count(sort, 'ja') >= 10, counted);
  for (const { sort, expected } of GOAL_TEXTS) {
    if (sort === 'ambiguous') assert.ok('wants' in expected);
    if (sort === 'hostile') assert.ok('wants' in expected || expected.prohibited.includes('notify:send'));
  }
});

/** The investigation kind with German, as a case would add it. */
const GERMAN: GoalKind = {
  ...claimInvestigation,
  alwaysProhibitedActions: [],
  recognise: { ...claimInvestigation.recognise, de: [['\\bwarum\\b|\\bfehlt\\b|\\bgrund\\b']] },
  entities: claimInvestigation.entities.map((entity) => ({
    ...entity,
    question: { ...entity.question, de: 'Welcher Schaden ist gemeint? Bitte eine Nummer wie C-102 nennen.' },
  })),
  outputs: claimInvestigation.outputs.map((output) =>
    output.when === undefined ? output : { ...output, when: { ...output.when, de: ['\\bentwurf', '\\bbrief\\b'] } },
  ),
  prohibitions: claimInvestigation.prohibitions.map((rule) =>
    rule.action === 'notify:send'
      ? {
          ...rule,
          phrases: { ...rule.phrases, de: ['\\b(ver)?send(e|en|et)\\b|schick|\\bbenachrichtig|\\bkontaktier'] },
        }
      : { ...rule, phrases: { ...rule.phrases, de: ['änder|\\baktualisier|\\bgenehmig'] } },
  ),
  negations: {
    de: [
      '\\bnicht(s)?\\b',
      '\\bkein(e|en|em|er|es)?\\b',
      '\\bniemand(en|em)?\\b',
      '\\bnie(mals)?\\b',
      '\\bverboten\\b',
    ],
  },
};

test('a case adds German: the goal asked in German, English and Japanese has one digest, and its prohibitions are found', async () => {
  const texts = {
    de: 'Warum ist C-102 noch offen und was fehlt? Bitte einen Entwurf für einen Brief anlegen. Senden Sie ihn nicht.',
    en: 'Find out why C-102 is still open and what is missing. Draft a letter. Do not send it.',
    ja: 'C-102が未完了の理由と不足書類を調べ、通知文の下書きを作ってください。送信しないでください。',
  };
  const digests = new Set<string>();
  for (const [language, text] of Object.entries(texts)) {
    const intake = await read(text, [GERMAN]);
    assert.equal(intake.language, language);
    if (intake.kind === 'question') assert.fail(`${text} → ${intake.blocked.question}`);
    assert.deepEqual(intake.goal.prohibitedActions, ['notify:send'], text);
    digests.add(goalDigest(intake.goal));
  }
  assert.equal(digests.size, 1);
});

test('in the added language what forbids is found wherever it stands, and what is unclear is asked in it', async () => {
  const rows: readonly (readonly [text: string, expected: readonly string[] | string])[] = [
    ['Warum ist C-102 offen? Nichts senden.', ['notify:send']],
    ['Warum ist C-102 offen? Benachrichtigen Sie niemanden.', ['notify:send']],
    [
      'Warum ist C-102 offen? Es darf keine Nachricht verschickt und nichts geändert werden.',
      ['claims:update', 'notify:send'],
    ],
    ['Warum ist C-102 offen? Ändern verboten.', ['claims:update']],
    ['Warum ist C-102 offen? Nicht löschen.', '?prohibition_1'],
    ['Warum fehlt etwas?', '?claim_id'],
  ];
  for (const [text, expected] of rows) {
    const intake = await read(text, [GERMAN]);
    const got = intake.kind === 'question' ? `?${intake.blocked.wants}` : intake.goal.prohibitedActions;
    assert.deepEqual(got, expected, text);
    if (intake.kind === 'question' && intake.blocked.wants === 'claim_id')
      assert.match(intake.blocked.question, /Welcher Schaden/);
  }
});
