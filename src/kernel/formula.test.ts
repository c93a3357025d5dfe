import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { evaluateFormula, formulaNames } from './formula.ts';

const INPUTS = new Map([
  ['income', 100],
  ['interest', 8],
  ['depreciation', 25],
]);

test('computes ratios of observed values', () => {
  assert.equal(evaluateFormula('round((income + depreciation) / interest, 2)', INPUTS), 15.63);
  assert.equal(evaluateFormula('-income - -interest*2', INPUTS), -84);
  assert.equal(evaluateFormula('round(income/interest)', INPUTS), 13);
  assert.equal(evaluateFormula(' 0.5 * income ', INPUTS), 50);
});

test('names what it uses', () => {
  assert.deepEqual(formulaNames('round((a + b) / a, 2)'), ['a', 'b']);
  assert.deepEqual(formulaNames('a ; b'), []);
});

test('is undefined for whatever is no formula, or gives no finite number', () => {
  const bad = [
    '',
    '1 +',
    'income income',
    'unknown',
    'income / 0',
    '(income',
    'income)',
    'round income',
    'round(1, 1.5)',
    'round(1, -1)',
    'round(1, 13)',
    'round(1, 2',
    'income ** 2',
    'process.exit()',
    '1..2',
    'a;b',
    ',',
    'constructor',
    '('.repeat(40) + '1' + ')'.repeat(40),
    '-'.repeat(40) + '1',
  ];
  for (const formula of bad) assert.equal(evaluateFormula(formula, INPUTS), undefined, formula);
  assert.equal(evaluateFormula('('.repeat(20) + '1' + ')'.repeat(20), INPUTS), 1);
});

interface Expression {
  readonly text: string;
  readonly value: number;
}
const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.nat(99).map((value) => ({ text: String(value), value })),
  fc.constantFrom(...INPUTS).map(([text, value]) => ({ text, value })),
);
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/'), tie('expression')).map(([a, op, b]) => {
      const value =
        op === '+'
          ? a.value + b.value
          : op === '-'
            ? a.value - b.value
            : op === '*'
              ? a.value * b.value
              : a.value / b.value;
      return { text: `(${a.text} ${op} ${b.text})`, value };
    }),
  ),
}));

test('agrees with the machine on every arithmetic expression', () => {
  fc.assert(
    fc.property(expression, ({ text, value }) => {
      assert.equal(evaluateFormula(text, INPUTS), Number.isFinite(value) ? value : undefined, text);
    }),
    { numRuns: 2_000 },
  );
});
