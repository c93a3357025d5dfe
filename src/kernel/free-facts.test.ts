import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeFacts } from './free-facts.ts';

test('finds facts in English and Japanese text', () => {
  const facts = [
    'The claim C-102 waits.',
    'It is 128000 CNY.',
    'Since 2026-07-22.',
    'By rule R-7',
    '３件',
    'Ⅻ',
    '€ is due',
    'paid in euros',
    'They said “yes”.',
    'named "x"',
    "the so-called 'report' came",
    'mail a@b.example',
    'see https://x.example/',
    'two documents',
    'Twice sent',
    'in March',
    'on Monday',
    'since yesterday',
    '三件の請求',
    '本日',
    '「はい」と言った',
    'It was not sent.',
    'It is missing.',
    "It isn't there.",
    'It isn’t there.',
    'The team failed.',
    'without approval',
    '送信していません',
    '送っていない',
    '送らずに',
    '未送信',
    '不足',
    '無効',
    '書類が欠けている',
  ];
  for (const text of facts) assert.notDeepEqual(freeFacts(text), [], text);
});

test('finds none in text that only phrases', () => {
  const phrases = [
    'The claim waits for its documents.',
    'What happens next follows from the rule.',
    "The member's claim is on hold.",
    '請求の状態は次のとおりです。',
    'まず会員に連絡します。',
    '',
  ];
  for (const text of phrases) assert.deepEqual(freeFacts(text), [], text);
});

test('names what it found', () => {
  assert.deepEqual(freeFacts('Claim C-102 was not paid on 2026-07-22.'), ['C-102', '2026-07-22.', 'not']);
});
