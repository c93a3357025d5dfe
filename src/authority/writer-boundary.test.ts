/** The writer's boundary: a lease for one effect, minted from its approval, passes there and nowhere else. LEASE "Checking", INV-04. */
import { LEASE_LIFETIME_S_EFFECT, type LeaseClaims } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import { leaseWorld, sendOperation } from '#testing/lease-world.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardStepNames } from './guard.ts';

const WRITER = 'urn:caseops:writer';
const approval = { id: 'apv_1', digest: digestOf('action') } as const;

/** The guard's step that refuses a lease with these claims at the writer; undefined when it permits. */
function refusedBy(
  claims: Partial<LeaseClaims>,
  operation: Parameters<typeof sendOperation>[0] = {},
  without: readonly string[] = [],
): string | undefined {
  const world = leaseWorld();
  const made = world.claims({ aud: WRITER });
  const [detail] = made.authorization_details;
  assert.ok(detail !== undefined);
  const lease = {
    ...made,
    use: 'single' as const,
    dlg: { depth: 0, max: 0 },
    exp: made.iat + LEASE_LIFETIME_S_EFFECT,
    authorization_details: [{ ...detail, locations: [WRITER] }],
    approval,
    ...claims,
  };
  const guard = world.guard({ boundary: 'writer', audience: WRITER, without });
  const authenticated = {
    lease,
    token: 't',
    signingInputDigest: digestOf('input'),
    workload: lease.act.sub,
    requestDigest: digestOf('request'),
  };
  const got = guard.authorize(authenticated, sendOperation({ approval, ...operation }));
  return got.outcome === 'permit' ? undefined : got.guard;
}

void test('a lease of this approval and action passes at the writer', () => {
  assert.equal(refusedBy({}), undefined);
});

const cases: readonly (readonly [guard: string, name: string, claims: Partial<LeaseClaims>])[] = [
  ['effect_use', 'a lease for several uses', { use: 'count:2' }],
  ['effect_use', 'a lease that lasts longer than an effect may', { exp: leaseWorld().claims().iat + 61 }],
  ['approval', 'a lease without an approval', { approval: undefined }],
  ['approval', 'a lease of another approval', { approval: { ...approval, id: 'apv_2' } }],
  ['approval', 'a lease of another action', { approval: { ...approval, digest: digestOf('other') } }],
];

for (const [guard, name, claims] of cases)
  void test(`${name} is refused by ${guard}, and missed when that step is taken out`, () => {
    assert.equal(refusedBy(claims), guard);
    assert.notEqual(refusedBy(claims, {}, [guard]), guard);
  });

void test('an operation that names no approval is refused', () => {
  assert.equal(refusedBy({}, { approval: undefined }), 'approval');
});

void test('only the writer has these steps', () => {
  const world = leaseWorld();
  const options = { audience: WRITER, issuers: [], clock: world.clock, workloads: () => undefined };
  const names = (boundary: 'writer' | 'mcp' | 'a2a') => guardStepNames({ ...options, boundary });
  assert.deepEqual(names('writer').slice(-2), ['effect_use', 'approval']);
  for (const boundary of ['mcp', 'a2a'] as const) assert.ok(!names(boundary).includes('approval'));
});

void test('an effect lease is single, at most 60 s, of one approval, and refused for what the goal prohibits', () => {
  const world = leaseWorld();
  const issuer = world.issuer({
    lease: () => Promise.resolve(undefined),
    bindLeaseTask: () => Promise.resolve(true),
    write: () => Promise.resolve({ ok: true }),
  });
  const { delegationDepthMax: _depth, use: _use, lifetimeS: _lifetime, ...request } = world.workRequest();
  const { row, lease } = issuer.mintEffect({ ...request, prohibitedActions: [], approval });
  assert.deepEqual([row.use, row.depth, lease.expiresAt - row.issuedAt], ['single', 0, LEASE_LIFETIME_S_EFFECT]);
  const prohibited = { ...request, prohibitedActions: [...request.detail.actions], approval };
  assert.throws(() => issuer.mintEffect(prohibited), { code: 'ERR_LEASE' });
});
