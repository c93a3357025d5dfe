import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BRANCHES, type Finding } from './finding.ts';
import { mergeFindings, type RefusalKind } from './merge-findings.ts';

const expected = { tenant: 'tenant-7', requestId: 'promote-104', releaseId: 'reranker-v17' };

const findingOf = (branch: string, over: Partial<Finding> = {}): Finding => ({
  branch,
  tenant: 'tenant-7',
  request_id: 'promote-104',
  release_id: 'reranker-v17',
  verdict: 'passed',
  reason: 'It holds.',
  requires_approval: branch === 'policy',
  evidence: [`${branch}-record:r-1@v1`],
  ...over,
});
const [evaluation, health, policy] = BRANCHES.map((branch) => findingOf(branch));

const kinds = (delivered: readonly unknown[]): readonly RefusalKind[] => {
  const merged = mergeFindings(delivered, expected);
  return merged.ok ? [] : merged.refusals.map(({ kind }) => kind);
};

test('one passed finding per branch, in any order, is a set that can be proposed, with all its evidence', () => {
  const merged = mergeFindings([policy, evaluation, health], expected);
  assert.ok(merged.ok);
  assert.deepEqual(Object.keys(merged.findings), ['eval', 'health', 'policy']);
  assert.equal(merged.requiresApproval, true);
  assert.deepEqual(merged.evidence, ['eval-record:r-1@v1', 'health-record:r-1@v1', 'policy-record:r-1@v1']);
});

for (const [what, delivered, refused] of [
  ['a missing branch', [evaluation, policy], ['missing']],
  ['no finding at all', [], ['missing', 'missing', 'missing']],
  ['the same branch twice', [evaluation, health, policy, policy], ['duplicate']],
  ['one branch in the place of another', [evaluation, evaluation, policy], ['duplicate', 'missing']],
  ['a branch that nobody asked for', [evaluation, health, policy, findingOf('cost')], ['unexpected']],
  ['another tenant', [evaluation, findingOf('health', { tenant: 'tenant-8' }), policy], ['wrong_tenant']],
  ['another request', [evaluation, health, findingOf('policy', { request_id: 'promote-103' })], ['wrong_request']],
  ['another release', [findingOf('eval', { release_id: 'reranker-v16' }), health, policy], ['wrong_release']],
  ['a branch that failed', [evaluation, findingOf('health', { verdict: 'failed' }), policy], ['failed']],
  ['a finding without evidence', [findingOf('eval', { evidence: [] }), health, policy], ['without_evidence']],
  ['a finding in another form', [evaluation, health, { branch: 'policy', approved: true }], ['malformed', 'missing']],
  [
    'a finding that carries more than was agreed',
    [evaluation, health, { ...policy, approved: true }],
    ['malformed', 'missing'],
  ],
  [
    'several things at once',
    [findingOf('eval', { tenant: 'tenant-8', evidence: [] }), findingOf('health', { verdict: 'failed' })],
    ['missing', 'wrong_tenant', 'without_evidence', 'failed'],
  ],
] as const) {
  test(`${what} is refused as ${[...new Set(refused)].join(', ')}`, () => {
    assert.deepEqual(kinds(delivered), refused);
  });
}

test('no set with any branch changed, dropped, doubled or added is taken', () => {
  const change = fc.constantFrom<(set: Finding[], at: number) => Finding[]>(
    (set, at) => set.toSpliced(at, 1),
    (set, at) => [...set, set[at] ?? findingOf('eval')],
    (set) => [...set, findingOf('extra')],
    (set, at) => set.with(at, { ...(set[at] ?? findingOf('eval')), tenant: 'tenant-9' }),
    (set, at) => set.with(at, { ...(set[at] ?? findingOf('eval')), request_id: 'promote-1' }),
    (set, at) => set.with(at, { ...(set[at] ?? findingOf('eval')), verdict: 'failed' }),
    (set, at) => set.with(at, { ...(set[at] ?? findingOf('eval')), evidence: [] }),
  );
  fc.assert(
    fc.property(fc.shuffledSubarray([...BRANCHES], { minLength: 3 }), fc.nat(2), change, (order, at, changed) => {
      const set = order.map((branch) => findingOf(branch));
      assert.ok(mergeFindings(set, expected).ok);
      assert.equal(mergeFindings(changed(set, at), expected).ok, false);
    }),
  );
});
