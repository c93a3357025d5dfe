import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SlotFormat } from '#contracts/claim.ts';
import { renderSlot } from './render-slot.ts';

const said = (format: SlotFormat, value: unknown): string => {
  const rendered = renderSlot(format, value);
  return rendered.ok ? rendered.text : `(${rendered.reason})`;
};

test('each format writes its values one way', () => {
  const cases: readonly (readonly [format: SlotFormat, value: unknown, text: string])[] = [
    ['identifier', 'C-102', 'C-102'],
    ['identifier', 42, '42'],
    ['code', 'pending_documents', 'pending_documents'],
    ['text', 'As it is.', 'As it is.'],
    ['quote', 'Say "no" — 事故', '“Say "no" — 事故”'],
    ['date', '2026-07-22T14:11:09Z', '2026-07-22 14:11:09 UTC'],
    ['date', '2026-07-22T14:11:09.000Z', '2026-07-22 14:11:09 UTC'],
    ['date', '2026-07-22T14:11:09.120Z', '2026-07-22 14:11:09.12 UTC'],
    ['date', '2026-07-23T00:11:09+10:00', '2026-07-22 14:11:09 UTC'],
    ['date', '2026-07-22', '2026-07-22'],
    ['number', 10.45, '10.45'],
    ['number', '128000.00', '128000.00'],
    ['number', -3, '-3'],
    ['amount', 128000, '128000'],
    ['amount', { amount: 128000, currency: 'CNY' }, '128000\u00a0CNY'],
    ['list', ['accident_report', 7], 'accident_report, 7'],
  ];
  for (const [format, value, text] of cases) assert.equal(said(format, value), text);
});

test('nothing to say is told from something that does not fit', () => {
  for (const format of ['identifier', 'code', 'text', 'quote', 'date', 'number', 'amount', 'list'] as const)
    for (const value of [null, undefined, '', []]) assert.equal(said(format, value), '(empty)');
  const unfit: readonly (readonly [format: SlotFormat, value: unknown])[] = [
    ['identifier', { id: 1 }],
    ['code', true],
    ['text', 1.5],
    ['quote', 7],
    ['date', 20260722],
    ['date', '22.07.2026'],
    ['date', '2026-02-30'],
    ['date', '2026-13-01'],
    ['date', '2026-02-30T00:00:00Z'],
    ['date', '2026-07-22T25:00:00Z'],
    ['date', '2026-07-22T14:11:09'],
    ['number', Number.NaN],
    ['number', '1e3'],
    ['number', true],
    ['amount', { amount: 1, currency: 'yuan' }],
    ['amount', { amount: 'much', currency: 'CNY' }],
    ['amount', { currency: 'CNY' }],
    ['amount', 'CNY'],
    ['list', 'accident_report'],
    ['list', ['a', '']],
    ['list', ['a', { b: 1 }]],
    ['text', 'x'.repeat(8_001)],
  ];
  for (const [format, value] of unfit) assert.equal(said(format, value), '(unfit)', JSON.stringify([format, value]));
});
