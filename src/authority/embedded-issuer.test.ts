import assert from 'node:assert/strict';
import test from 'node:test';
import * as jose from 'jose';
import { CaseOpsError } from '#contracts/error.ts';
import { leaseRow } from '#contracts/lease.ts';
import type { ControlLeaseRequest, WorkLeaseRequest } from '#ports/issuer.ts';
import { PLAN_DIGEST, TEAM, TOOLS, leaseWorld, sendOperation } from '#testing/lease-world.ts';
import type { EmbeddedIssuer } from './embedded-issuer.ts';
import type { LeaseRegistry } from './issuer-options.ts';

const world = leaseWorld();
/** Minting reads and writes no registry; a call to it fails the test. */
const closed: LeaseRegistry = {
  lease: () => Promise.reject(new Error('not to be asked')),
  bindLeaseTask: () => Promise.reject(new Error('not to be asked')),
  write: () => Promise.reject(new Error('not to be asked')),
};
const issuer: EmbeddedIssuer = world.issuer(closed);
const { detail } = world.workRequest();

const refusals: readonly (readonly [name: string, code: string, over: Partial<WorkLeaseRequest>])[] = [
  [
    'an action that the goal prohibits',
    'prohibited_action',
    { detail: { ...detail, actions: ['claims:read', 'notify:send'] } },
  ],
  ['an action that the user may not do', 'action', { detail: { ...detail, actions: ['claims:approve'] } }],
  ['a purpose that the user has not', 'purpose', { detail: { ...detail, purpose: 'marketing' } }],
  [
    'a supervisor whom the user has not named',
    'may_act',
    { grant: { ...world.grant, may_act: { sub: 'spiffe://other' } } },
  ],
  ['another tenant', 'tenant', { tenant: 't8' }],
  ['a lifetime over 300 s', 'lifetime', { lifetimeS: 301 }],
  ['no lifetime', 'lifetime', { lifetimeS: 0 }],
  ['an unknown audience', 'audience', { audience: 'https://team-legal.test/a2a' }],
  ['an unknown location', 'audience', { detail: { ...detail, locations: ['https://crm.test/mcp'] } }],
  ['a use for control', 'use', { use: 'control' }],
  ['no resource', 'claims_shape', { detail: { ...detail, resources: [] } }],
  ['half a second', 'claims_shape', { lifetimeS: 1.5 }],
];

for (const [name, code, over] of refusals) {
  void test(`no work lease is minted for ${name}`, () => {
    assert.throws(() => issuer.mintWork(world.workRequest(over)), refusedWith(code));
  });
}

void test('a work lease lasts 300 s at most and permits what the step does, nothing that the goal prohibits', () => {
  const { lease, row } = issuer.mintWork(world.workRequest({ lifetimeS: 300 }));
  assert.equal(lease.expiresAt - row.issuedAt, 300);
  assert.deepEqual(leaseRow.parse(row), row);
  const guard = world.guard();
  const body = new TextEncoder().encode('{"q":1}');
  const got = guard.authenticate({
    authorization: `DPoP ${lease.token}`,
    proof: lease.prove('POST', TEAM, body),
    method: 'POST',
    target: TEAM,
    body,
  });
  assert.equal(got.outcome, 'permit');
  assert.equal(guard.authorize(got.value, sendOperation()).outcome, 'permit');
  const sending = guard.authorize(got.value, sendOperation({ action: 'notify:send' }));
  assert.equal(sending.outcome === 'deny' && sending.guard, 'action');
});

void test('a send uses its lease up once, whatever its children may do', () => {
  const record = world.guard().consumption({ ...authenticated(), lease: world.claims({ use: 'count:4' }) });
  assert.equal(record.table === 'consumption' && record.useCountMax, 1);
  const atTool = world
    .guard({ boundary: 'mcp' })
    .consumption({ ...authenticated(), lease: world.claims({ use: 'count:4' }) });
  assert.equal(atTool.table === 'consumption' && atTool.useCountMax, 4);
  assert.throws(
    () => world.guard().consumption({ ...authenticated(), lease: world.claims({ use: 'control' }) }),
    refusedWith('lease_kind'),
  );
});

const control: ControlLeaseRequest = {
  grant: world.grant,
  tenant: 't9',
  runId: 'run_world-000001',
  stepId: 's2',
  attempt: 1,
  audience: TEAM,
  action: 'task:read',
  taskId: 'task-1',
  planDigest: PLAN_DIGEST,
  policyDigest: world.policy.digest,
};

void test('a control lease reads its own task, is refused for another, and is never work', () => {
  const { lease, row } = issuer.mintControl(control);
  assert.deepEqual([row.use, row.taskId], ['control', 'task-1']);
  const guard = world.guard();
  const got = guard.authenticate({
    authorization: `DPoP ${lease.token}`,
    proof: lease.prove('GET', `${TEAM}?historyLength=1`, ''),
    method: 'GET',
    target: TEAM,
    body: new Uint8Array(),
  });
  assert.equal(got.outcome, 'permit');
  const read = {
    action: 'task:read',
    resources: [],
    purpose: undefined,
    datatypes: [],
    arguments: undefined,
    lease: 'control',
  } as const;
  const said = (over: Parameters<typeof sendOperation>[0]): string => {
    const answer = guard.authorize(got.value, sendOperation({ ...read, ...over }));
    return answer.outcome === 'permit' ? 'permit' : answer.guard;
  };
  assert.equal(said({ taskId: 'task-1' }), 'permit');
  assert.equal(said({ taskId: 'task-2' }), 'task');
  assert.equal(said({ taskId: 'task-1', action: 'task:cancel' }), 'action');
  assert.equal(said({ taskId: undefined, lease: 'work', action: 'claims:read' }), 'lease_kind');
});

void test('a control lease is for one of five actions, and names a task exactly when it is about one', () => {
  const { taskId: _taskId, ...taskless } = control;
  assert.throws(() => issuer.mintControl({ ...control, action: 'claims:read' }), refusedWith('action'));
  assert.throws(() => issuer.mintControl({ ...control, action: 'constructor' }), refusedWith('action'));
  assert.throws(() => issuer.mintControl(taskless), refusedWith('task'));
  assert.throws(() => issuer.mintControl({ ...control, action: 'task:list' }), refusedWith('task'));
  assert.throws(
    () => issuer.mintControl({ ...taskless, action: 'tool:discover', audience: 'x' }),
    refusedWith('audience'),
  );
  assert.equal(issuer.mintControl({ ...taskless, action: 'tool:discover', audience: TOOLS }).lease.audience, TOOLS);
});

void test('jose verifies a lease under the published key set', async () => {
  const keys = issuer.jwks().keys.map((key) => ({ ...key }));
  const { lease } = issuer.mintWork(world.workRequest());
  const { protectedHeader, payload } = await jose.jwtVerify(lease.token, jose.createLocalJWKSet({ keys }), {
    issuer: 'https://auth.caseops.test',
    audience: TEAM,
    typ: 'at+jwt',
    algorithms: ['ES256'],
    requiredClaims: ['jti', 'exp', 'iat', 'nbf', 'sub', 'client_id', 'cnf'],
    currentDate: new Date(world.clock.nowMs()),
  });
  assert.equal(protectedHeader.kid, world.issuerKey.thumbprint);
  assert.equal(payload.jti, lease.leaseId);
});

function authenticated(): Parameters<ReturnType<typeof world.guard>['consumption']>[0] {
  const digest = PLAN_DIGEST;
  return { lease: world.claims(), token: 't', signingInputDigest: digest, workload: 'w', requestDigest: digest };
}

function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CaseOpsError);
    assert.deepEqual([error.code, error.detail['code']], ['ERR_LEASE', code]);
    return true;
  };
}
