import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { leaseClaims, type Bound, type LeaseClaims, type LeaseDetail } from '#contracts/lease.ts';
import { digestOfBytes } from './digest.ts';
import { checkBounds, checkCall, checkNarrowing, type Call } from './narrowing.ts';

const PAR = digestOfBytes('parent signing input');
const TEAM = 'spiffe://caseops.test/team/claims';
const SUPERVISOR = 'spiffe://caseops.test/supervisor';

const DETAIL: LeaseDetail = {
  type: 'urn:caseops:lease:v1',
  locations: ['http://127.0.0.1:9001/mcp', 'http://127.0.0.1:9002/mcp'],
  actions: ['claims:read', 'claims:list'],
  resources: ['claim:C-102', 'claim:C-103'],
  datatypes: ['internal', 'personal'],
  purpose: 'claim-handling',
  bounds: { claim_id: { one_of: ['C-102', 'C-103'] }, limit: { min: 1, max: 10 } },
};

function parentLease(detail: Partial<LeaseDetail> = {}, over: Partial<LeaseClaims> = {}): LeaseClaims {
  const lease: LeaseClaims = {
    iss: 'https://issuer.test',
    sub: 'requester@t9',
    aud: 'http://127.0.0.1:9000',
    client_id: SUPERVISOR,
    iat: 1_000,
    nbf: 1_000,
    exp: 1_120,
    jti: 'lse_parent',
    cnf: { jkt: 'A'.repeat(43) },
    act: { sub: SUPERVISOR },
    tenant: 't9',
    authorization_details: [{ ...DETAIL, ...detail }],
    task: { run: 'run_1', step: 's2', attempt: 1 },
    plan_digest: digestOfBytes('plan'),
    policy_digest: digestOfBytes('policy'),
    dlg: { depth: 0, max: 1 },
    use: 'count:4',
    txn: 'run_1',
    ...over,
  };
  return leaseClaims.parse(lease);
}

function childLease(detail: Partial<LeaseDetail> = {}, over: Partial<LeaseClaims> = {}): LeaseClaims {
  return parentLease(
    { locations: [], actions: ['claims:read'], resources: ['claim:C-102'], datatypes: ['internal'], ...detail },
    {
      aud: 'http://127.0.0.1:9001/mcp',
      client_id: TEAM,
      jti: 'lse_child',
      act: { sub: TEAM, act: { sub: SUPERVISOR } },
      nbf: 1_010,
      exp: 1_100,
      task: { run: 'run_1', step: 's2', attempt: 1, task_id: 'task-1', context_id: 'ctx-1' },
      dlg: { depth: 1, max: 1, par: PAR },
      use: 'count:2',
      ...over,
    },
  );
}

function dimensions(child: LeaseClaims, parent = parentLease()): readonly string[] {
  return checkNarrowing(child, parent, PAR).map((widening) => widening.dimension);
}

test('a narrower child is inside its parent', () => {
  assert.deepEqual(dimensions(childLease()), []);
  assert.deepEqual(dimensions(childLease({}, { use: 'single' })), []);
  assert.deepEqual(
    dimensions(childLease({ ...DETAIL, locations: [] }, { nbf: 1_000, exp: 1_120, use: 'count:4' })),
    [],
  );
});

test('each dimension that widens is named, and only it', () => {
  const base = childLease();
  const cases: readonly (readonly [dimension: string, child: LeaseClaims])[] = [
    ['sub', childLease({}, { sub: 'approver@t9' })],
    ['tenant', childLease({}, { tenant: 't8' })],
    ['txn', childLease({}, { txn: 'run_2' })],
    ['task.run', childLease({}, { task: { ...base.task, run: 'run_2' } })],
    ['task.step', childLease({}, { task: { ...base.task, step: 's3' } })],
    ['task.attempt', childLease({}, { task: { ...base.task, attempt: 2 } })],
    ['plan_digest', childLease({}, { plan_digest: digestOfBytes('other') })],
    ['policy_digest', childLease({}, { policy_digest: digestOfBytes('other') })],
    ['state_digest', childLease({}, { state_digest: digestOfBytes('other') })],
    ['approval', childLease({}, { approval: { id: 'apv_1', digest: PAR } })],
    ['act', childLease({}, { act: { sub: TEAM } })],
    ['act', childLease({}, { act: { sub: TEAM, act: { sub: 'spiffe://caseops.test/other' } } })],
    ['purpose', childLease({ purpose: 'marketing' })],
    ['aud', childLease({}, { aud: 'http://127.0.0.1:9003/mcp' })],
    ['actions', childLease({ actions: ['claims:read', 'claims:write'] })],
    ['actions', childLease({ actions: ['claims:reads'] })],
    ['resources', childLease({ resources: ['claim:c-102'] })],
    ['datatypes', childLease({ datatypes: ['secret'] })],
    ['datatypes', childLease({ datatypes: [] })],
    ['locations', childLease({ locations: ['http://127.0.0.1:9003/mcp'] })],
    ['bounds.limit', childLease({ bounds: { claim_id: { exact: 'C-102' } } })],
    ['bounds.extra', childLease({ bounds: { ...DETAIL.bounds, extra: { exact: 1 } } })],
    ['bounds.limit', childLease({ bounds: { ...DETAIL.bounds, limit: { min: 1, max: 11 } } })],
    ['bounds.claim_id', childLease({ bounds: { ...DETAIL.bounds, claim_id: { exact: 'C-104' } } })],
    ['dlg.depth', childLease({}, { dlg: { depth: 0, max: 0, par: PAR } })],
    ['dlg.max', childLease({ locations: DETAIL.locations }, { dlg: { depth: 1, max: 2, par: PAR } })],
    ['dlg.par', childLease({}, { dlg: { depth: 1, max: 1, par: digestOfBytes('another parent') } })],
    ['dlg.par', childLease({}, { dlg: { depth: 1, max: 1 } })],
    ['use', childLease({}, { use: 'count:5' })],
    ['use', childLease({}, { use: 'control' })],
    ['nbf', childLease({}, { nbf: 999 })],
    ['exp', childLease({}, { exp: 1_121 })],
  ];
  for (const [dimension, child] of cases) assert.deepEqual(dimensions(child), [dimension]);
});

test('a parent without depth left, or for control, has no children', () => {
  assert.deepEqual(
    dimensions(childLease({}, { dlg: { depth: 1, max: 0, par: PAR } }), parentLease({}, { dlg: { depth: 0, max: 0 } })),
    ['dlg.depth'],
  );
  assert.deepEqual(dimensions(childLease(), parentLease({}, { use: 'control' })), ['use']);
  assert.deepEqual(dimensions(childLease(), parentLease({}, { use: 'single' })), ['use']);
});

test('a task that the parent names is fixed', () => {
  const parent = parentLease(
    {},
    { task: { run: 'run_1', step: 's2', attempt: 1, task_id: 'task-0', context_id: 'ctx-1' } },
  );
  assert.deepEqual(dimensions(childLease(), parent), ['task.task_id']);
});

test('a child that may delegate must name where to', () => {
  const parent = parentLease({}, { dlg: { depth: 0, max: 2 } });
  assert.deepEqual(dimensions(childLease({}, { dlg: { depth: 1, max: 2, par: PAR } }), parent), ['locations']);
  assert.deepEqual(
    dimensions(childLease({ locations: DETAIL.locations }, { dlg: { depth: 1, max: 2, par: PAR } }), parent),
    [],
  );
});

test('anything but one detail, and a detail of an unknown type, is refused', () => {
  const bare = { ...childLease(), authorization_details: [] };
  assert.deepEqual(dimensions(bare), ['authorization_details']);
  assert.deepEqual(dimensions(childLease(), { ...parentLease(), authorization_details: [] }), [
    'authorization_details',
  ]);
  assert.deepEqual(dimensions({ ...childLease(), authorization_details: [DETAIL, DETAIL] }), ['authorization_details']);
  const unknown = { ...DETAIL, locations: [], type: 'urn:caseops:lease:v2' } as unknown as LeaseDetail;
  assert.deepEqual(dimensions({ ...childLease(), authorization_details: [unknown] }), ['type']);
});

test('bounds are a closed world of exact types', () => {
  const bounds: Record<string, Bound> = {
    exact: { exact: 'C-102' },
    one: { one_of: [1, 'a', true] },
    set: { subset: ['x', 'y'] },
    range: { min: 1, max: 10 },
    top: { max: 5 },
    low: { min: 5 },
  };
  const inside = [
    { exact: 'C-102' },
    { one: true },
    { set: [] },
    { set: ['y', 'x'] },
    { range: 1 },
    { range: 10 },
    { top: -9 },
    { low: 5 },
    {},
  ];
  for (const args of inside) assert.deepEqual(checkBounds(bounds, args), [], JSON.stringify(args));
  const outside: readonly Readonly<Record<string, unknown>>[] = [
    { exact: 'c-102' },
    { one: '1' },
    { one: 'true' },
    { set: ['x', 'z'] },
    { set: 'x' },
    { range: 10.5 },
    { range: 0 },
    { range: '5' },
    { range: Number.NaN },
    { top: Number.NEGATIVE_INFINITY },
    { top: 6 },
    { low: 4 },
    { low: null },
    { other: 1 },
    { constructor: 1 },
  ];
  for (const args of outside)
    assert.deepEqual(
      checkBounds(bounds, args).map((w) => w.dimension),
      Object.keys(args).map((name) => `bounds.${name}`),
    );
});

test('across types of bounds only an exact value narrows', () => {
  const cases: readonly (readonly [inside: boolean, child: Bound, parent: Bound])[] = [
    [true, { exact: 'a' }, { exact: 'a' }],
    [false, { exact: 'a' }, { exact: 'b' }],
    [true, { exact: 'a' }, { one_of: ['a', 'b'] }],
    [true, { exact: 3 }, { min: 1, max: 3 }],
    [false, { exact: 4 }, { max: 3 }],
    [false, { exact: 'a' }, { subset: ['a'] }],
    [true, { one_of: ['a'] }, { one_of: ['a', 'b'] }],
    [false, { one_of: ['a', 'c'] }, { one_of: ['a', 'b'] }],
    [false, { one_of: ['a'] }, { exact: 'a' }],
    [false, { one_of: [1] }, { max: 3 }],
    [true, { subset: ['a'] }, { subset: ['a', 'b'] }],
    [false, { subset: ['a', 'c'] }, { subset: ['a', 'b'] }],
    [false, { subset: ['a'] }, { one_of: ['a'] }],
    [true, { min: 2, max: 3 }, { min: 1, max: 3 }],
    [true, { min: 2, max: 3 }, { max: 3 }],
    [true, { min: 2 }, { min: 2 }],
    [false, { max: 3 }, { min: 1, max: 3 }],
    [false, { min: 0, max: 3 }, { min: 1, max: 3 }],
    [false, { max: 3 }, { exact: 3 }],
    [false, { max: 3 }, { one_of: [3] }],
    [false, { max: 3 }, { subset: [3] }],
  ];
  for (const [inside, child, parent] of cases)
    assert.deepEqual(
      dimensions(childLease({ bounds: { b: child } }), parentLease({ bounds: { b: parent } })),
      inside ? [] : ['bounds.b'],
      JSON.stringify([child, parent]),
    );
});

test('a call is checked in every dimension', () => {
  const call: Call = {
    action: 'claims:read',
    resources: ['claim:C-102'],
    purpose: 'claim-handling',
    datatypes: ['internal'],
    arguments: { limit: 10 },
  };
  const of = (over: Partial<Call>): readonly string[] =>
    checkCall(DETAIL, { ...call, ...over }).map((w) => w.dimension);
  assert.deepEqual(of({}), []);
  assert.deepEqual(of({ purpose: undefined, arguments: undefined, resources: [], datatypes: [] }), []);
  assert.deepEqual(of({ action: 'claims:write' }), ['action']);
  assert.deepEqual(of({ resources: ['claim:C-102', 'claim:C-999'] }), ['resource']);
  assert.deepEqual(of({ purpose: 'marketing' }), ['purpose']);
  assert.deepEqual(of({ datatypes: ['secret'] }), ['datatype']);
  assert.deepEqual(of({ arguments: { limit: 11 } }), ['bounds.limit']);
});

const scalar = fc.constantFrom<string | number | boolean>('a', 'b', 'c', 1, 2, 3, 4, true, '1');
const end = fc.integer({ min: 0, max: 5 });
const bound: fc.Arbitrary<Bound> = fc.oneof(
  scalar.map((exact): Bound => ({ exact })),
  fc.array(scalar, { minLength: 1, maxLength: 4 }).map((one_of): Bound => ({ one_of })),
  fc.array(scalar, { maxLength: 4 }).map((subset): Bound => ({ subset })),
  fc.record({ min: end, max: end }),
  end.map((max): Bound => ({ max })),
  end.map((min): Bound => ({ min })),
);
const names = (...all: string[]): fc.Arbitrary<string[]> => fc.subarray(all, { minLength: 1 });
const details: fc.Arbitrary<LeaseDetail> = fc.record({
  type: fc.constant('urn:caseops:lease:v1' as const),
  locations: fc.constant(DETAIL.locations),
  actions: names('claims:read', 'claims:list', 'claims:write'),
  resources: names('claim:1', 'claim:2', 'claim:3'),
  datatypes: names('internal', 'personal'),
  purpose: fc.constantFrom('claim-handling', 'audit'),
  bounds: fc.dictionary(fc.constantFrom('x', 'y'), bound, { maxKeys: 2 }),
});
/** Mostly narrower than the parent, sometimes anything. */
const pairs = details.chain((parent) =>
  fc.tuple(
    fc.constant(parent),
    fc.oneof(
      { arbitrary: details, weight: 1 },
      {
        arbitrary: fc.record({
          type: fc.constant(parent.type),
          locations: fc.constant<string[]>([]),
          actions: fc.subarray(parent.actions, { minLength: 1 }),
          resources: fc.subarray(parent.resources, { minLength: 1 }),
          datatypes: fc.subarray(parent.datatypes, { minLength: 1 }),
          purpose: fc.constant(parent.purpose),
          bounds: fc.record(
            Object.fromEntries(
              Object.entries(parent.bounds).map(([name, own]) => [name, fc.oneof(fc.constant(own), bound)]),
            ),
          ),
        }),
        weight: 4,
      },
    ),
  ),
);
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.double({ min: -1, max: 6 }), fc.constant(null));
const call: fc.Arbitrary<Call> = fc.record({
  action: fc.constantFrom('claims:read', 'claims:list', 'claims:write'),
  resources: fc.subarray(['claim:1', 'claim:2', 'claim:3']),
  purpose: fc.constantFrom('claim-handling', 'audit', undefined),
  datatypes: fc.subarray(['internal', 'personal']),
  arguments: fc.option(fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { maxKeys: 2 }), { nil: undefined }),
});

test('INV-10: a call inside a child that is inside its parent is inside the parent', () => {
  let insideCount = 0;
  fc.assert(
    fc.property(pairs, fc.array(call, { minLength: 4, maxLength: 12 }), ([outer, inner], calls) => {
      if (dimensions(childLease(inner), parentLease(outer)).length > 0) return;
      for (const one of calls) {
        if (checkCall(inner, one).length > 0) continue;
        insideCount += 1;
        assert.deepEqual(checkCall(outer, one), []);
      }
    }),
    { numRuns: 10_000 },
  );
  assert.ok(insideCount > 500, `the property was tried on ${insideCount} calls only`);
});
