import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { createToolDoor, type DoorCall, type ToolDoor, type ToolDoorOptions } from './tool-door.ts';

const WORKLOAD = 'spiffe://caseops.test/program';
const CALL: DoorCall = {
  tool: 'get-claim',
  actions: ['claims:read'],
  resource: 'claim:C-102',
  classification: 'internal',
  arguments: { claim_id: 'C-102', filter: { fields: ['status', 'documents'] } },
  stepId: 'c1',
  timeoutMs: 1_000,
};

function doorWith(over: Partial<ToolDoorOptions> = {}): { door: ToolDoor; clock: ReturnType<typeof seededClock> } {
  const clock = seededClock(Date.parse('2026-07-22T15:00:00.000Z'));
  const grant = {
    sub: 'requester@t9',
    tenant: 't9',
    purposes: ['claim_investigation'],
    actions: ['claims:read', 'notify:send'],
    may_act: { sub: WORKLOAD },
    roles: ['requester'],
  };
  const door = createToolDoor({
    grant,
    workload: WORKLOAD,
    purpose: 'claim_investigation',
    prohibitedActions: [],
    policy: undefined,
    runId: 'run_1',
    authorityDigest: digestOf('authority'),
    store: openSqliteStore({ path: ':memory:', clock }),
    clock,
    ids: seededIds('door'),
    ...over,
  });
  return { door, clock };
}

function denied(door: ToolDoor, call: DoorCall, lease: Parameters<ToolDoor['check']>[1]): string {
  const checked = door.check(call, lease);
  assert.notEqual(checked.outcome, 'permit');
  return checked.outcome === 'permit' ? '' : checked.code;
}

test('no lease means deny', () => {
  assert.equal(denied(doorWith().door, CALL, undefined), 'lease_missing');
});

test('a lease is for exactly one call: its tool, resource, step and each argument, nested ones too', () => {
  const { door } = doorWith();
  const { lease } = door.mint(CALL);
  const other = (over: Partial<DoorCall>): string => denied(door, { ...CALL, ...over }, lease);
  assert.equal(other({ tool: 'get-customer' }), 'audience');
  assert.equal(other({ resource: 'claim:C-103' }), 'resource');
  assert.equal(other({ stepId: 'c2' }), 'step');
  assert.equal(other({ actions: ['notify:send'] }), 'action');
  assert.equal(other({ classification: 'secret' }), 'datatype');
  assert.equal(other({ arguments: { ...CALL.arguments, claim_id: 'C-103' } }), 'bounds');
  assert.equal(other({ arguments: { ...CALL.arguments, filter: { fields: ['status', 'iban'] } } }), 'bounds');
  assert.equal(other({ arguments: { ...CALL.arguments, extra: true } }), 'bounds');
  assert.equal(door.check(CALL, lease).outcome, 'permit');
});

test('a lease of another session, and one whose time is over, permit nothing', async () => {
  const { door, clock } = doorWith();
  const { lease } = door.mint(CALL);
  assert.equal(denied(door, CALL, doorWith().door.mint(CALL).lease), 'key_unknown');
  await clock.advance(2_001);
  assert.equal(denied(door, CALL, lease), 'expired');
});

test('what is admitted is written with the lease and its one use', () => {
  const { records, leaseId } = doorWith().door.admit(CALL);
  assert.deepEqual(
    records.map(({ table }) => table),
    ['lease', 'consumption'],
  );
  assert.ok(records.some((record) => record.table === 'consumption' && record.useCountMax === 1));
  assert.ok(records.some((record) => record.table === 'lease' && record.row.leaseId === leaseId));
});

function refusal(act: () => unknown): CaseOpsError {
  try {
    act();
  } catch (error) {
    if (error instanceof CaseOpsError) return error;
    throw error;
  }
  assert.fail('expected a refusal');
}

test('the issuer refuses what is prohibited, not granted, or for another workload; a policy what it does not list', () => {
  const code = (over: Partial<ToolDoorOptions>, call: Partial<DoorCall> = {}): unknown => {
    const error = refusal(() => doorWith(over).door.admit({ ...CALL, ...call }));
    assert.equal(error.code, 'ERR_LEASE');
    return error.detail['code'];
  };
  assert.equal(code({ prohibitedActions: ['notify:send'] }, { actions: ['notify:send'] }), 'prohibited_action');
  assert.equal(code({}, { actions: ['claims:write'] }), 'action');
  assert.equal(code({ workload: 'spiffe://caseops.test/other' }), 'may_act');
  assert.equal(code({ purpose: 'marketing' }), 'purpose');
  assert.equal(code({ policy: [] }), 'policy');
  const row = {
    actor: WORKLOAD,
    action: 'claims:read',
    resourceType: 'claim',
    purpose: 'claim_investigation',
    tenants: ['t9'],
  };
  assert.ok(doorWith({ policy: [row] }).door.admit(CALL).leaseId);
  assert.equal(code({ policy: [{ ...row, tenants: ['t8'] }] }), 'policy');
  // A lease for both, of which the policy lists one only.
  assert.equal(code({ policy: [row] }, { actions: ['claims:read', 'notify:send'] }), 'policy');
});
