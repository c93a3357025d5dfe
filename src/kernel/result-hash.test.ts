import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultHash, type ResultParts } from './result-hash.ts';
import { atMs, evidenceOf } from './trial-contracts.test.ts';

const PARTS: ResultParts = {
  status: 'completed',
  data: { value: 'pending' },
  evidence: [evidenceOf('s1', 'pending'), evidenceOf('s2', 'open')],
  missing: [],
  contractVersion: '1.0.0',
};

test('times, ids, order and repetition of the evidence do not change the identity of a result', () => {
  const again = PARTS.evidence.map((item) => ({ ...item, evidenceId: 'ev_other' as const, observedAt: atMs(9) }));
  const evidence = [...again.toReversed(), ...again];
  assert.equal(resultHash({ ...PARTS, evidence }), resultHash(PARTS));
});

test('each part that says what was found changes it', () => {
  const [first, second] = PARTS.evidence;
  assert.ok(first !== undefined && second !== undefined);
  const hashes = [
    PARTS,
    { ...PARTS, status: 'partial' as const },
    { ...PARTS, data: { value: 'open' } },
    { ...PARTS, data: undefined },
    { ...PARTS, data: null },
    { ...PARTS, missing: ['accident_report'] },
    { ...PARTS, contractVersion: '1.0.1' },
    { ...PARTS, evidence: [first] },
    { ...PARTS, evidence: [{ ...first, version: 'v18' }, second] },
    { ...PARTS, evidence: [{ ...first, source: 'other-db' }, second] },
    { ...PARTS, evidence: [{ ...first, anchor: 'claim:C-9' }, second] },
    { ...PARTS, evidence: [{ ...first, digest: second.digest }, second] },
  ].map(resultHash);
  assert.equal(new Set(hashes).size, hashes.length);
});
