import assert from 'node:assert/strict';
import test from 'node:test';
import { LEASE_DETAIL_TYPE, type LeaseClaims, type LeaseDetail } from '#contracts/lease.ts';
import { checkNarrowing } from '#kernel/narrowing.ts';
import type { Store } from '#ports/store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { ISSUER, TEAM, TOKEN_ENDPOINT, TOOLS, leaseWorld, type LeaseWorld } from '#testing/lease-world.ts';
import { makeClientAssertion } from './client-authentication.ts';
import { generateSigner } from './es256.ts';
import { leaseRowOf } from './lease-claims.ts';
import { signLease } from './lease-token.ts';
import { makeProof } from './possession.ts';
import { sha256Digest } from './sha256.ts';
import { ASSERTION_TYPE_JWT, GRANT_TOKEN_EXCHANGE, TOKEN_TYPE_ACCESS, type TokenRequest } from './token-request.ts';

const childDetail: LeaseDetail = {
  type: LEASE_DETAIL_TYPE,
  locations: [],
  actions: ['claims:read'],
  resources: ['claim:C-102'],
  datatypes: ['internal'],
  purpose: 'completeness-check',
  bounds: { claim_id: { exact: 'C-102' }, row_count: { max: 20 }, fields: { subset: ['status'] } },
};

/** One thing that a request says differently. */
interface Change {
  readonly parent?: Readonly<Record<string, unknown>>;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly request?: (request: TokenRequest, world: LeaseWorld) => TokenRequest;
}

interface Answer {
  readonly status: number;
  readonly said: Readonly<Record<string, string>>;
  readonly parent: LeaseClaims;
  readonly parentInput: string;
}

async function ask(change: Change): Promise<Answer> {
  const world = leaseWorld();
  await using store = openSqliteStore({ path: ':memory:', clock: world.clock });
  return await send(world, store, change);
}

async function send(world: LeaseWorld, store: Store, change: Change): Promise<Answer> {
  const parent = world.claims(change.parent);
  const token = signLease(world.issuerKey, parent);
  await store.write([{ table: 'lease', row: leaseRowOf(parent, undefined) }]);
  const holder = { signer: world.teamKey, clock: world.clock, ids: world.ids };
  const form = new URLSearchParams({
    grant_type: GRANT_TOKEN_EXCHANGE,
    client_assertion_type: ASSERTION_TYPE_JWT,
    client_assertion: makeClientAssertion('team-claims', ISSUER, holder),
    subject_token: token,
    subject_token_type: TOKEN_TYPE_ACCESS,
    resource: TOOLS,
    authorization_details: JSON.stringify([{ ...childDetail, ...change.detail }]),
    caseops_task: 'task-1',
    caseops_context: 'ctx-1',
    caseops_use: 'count:2',
    ...change.form,
  });
  const body = form.toString();
  const proof = makeProof(holder, { method: 'POST', target: TOKEN_ENDPOINT, body, ath: undefined });
  const request: TokenRequest = {
    method: 'POST',
    url: '/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', dpop: proof },
    body: Buffer.from(body),
  };
  const answer = await world.issuer(store).handleTokenRequest(change.request?.(request, world) ?? request);
  const said = JSON.parse(answer.body) as Record<string, string>;
  return { status: answer.status, said, parent, parentInput: token.slice(0, token.lastIndexOf('.')) };
}

function claimsOf({ said }: Answer): LeaseClaims {
  return JSON.parse(
    Buffer.from((said['access_token'] ?? '').split('.')[1] ?? '', 'base64url').toString(),
  ) as LeaseClaims;
}

void test('LAB-55: the answer of a lawful exchange is that of RFC 8693, and its lease is inside its parent', async () => {
  const got = await ask({});
  assert.equal(got.status, 200);
  const { access_token: _token, ...rest } = got.said;
  assert.deepEqual(rest, {
    issued_token_type: TOKEN_TYPE_ACCESS,
    token_type: 'DPoP',
    expires_in: 120,
    authorization_details: [childDetail],
  });
  assert.deepEqual(checkNarrowing(claimsOf(got), got.parent, sha256Digest(got.parentInput)), []);
});

void test('LAB-59, LAB-60, LAB-61: lifetime, subject and parent of a child cannot be asked for; the issuer sets them', async () => {
  const now = leaseWorld().claims().iat;
  const got = await ask({ parent: { exp: now + 30 }, form: { sub: 'ceo@t9', exp: String(now + 300), par: 'x' } });
  assert.equal(got.status, 200);
  const child = claimsOf(got);
  assert.deepEqual(
    [child.exp, child.sub, child.dlg.par],
    [got.parent.exp, got.parent.sub, sha256Digest(got.parentInput)],
  );
});

const refusals: readonly (readonly [name: string, error: string, code: string, change: Change])[] = [
  [
    'LAB-56: a parent that may not delegate',
    'invalid_authorization_details',
    'narrowing.dlg.depth',
    { parent: { dlg: { depth: 0, max: 0 } } },
  ],
  [
    'LAB-57: an added action',
    'invalid_authorization_details',
    'narrowing.actions',
    { detail: { actions: ['claims:read', 'claims:approve'] } },
  ],
  [
    'LAB-58: a loosened bound',
    'invalid_authorization_details',
    'narrowing.bounds.row_count',
    { detail: { bounds: { ...childDetail.bounds, row_count: { max: 51 } } } },
  ],
  [
    'a dropped bound',
    'invalid_authorization_details',
    'narrowing.bounds.row_count',
    { detail: { bounds: { claim_id: { exact: 'C-102' }, fields: { subset: ['status'] } } } },
  ],
  [
    'an added bound',
    'invalid_authorization_details',
    'narrowing.bounds.path',
    { detail: { bounds: { ...childDetail.bounds, path: { exact: 'x' } } } },
  ],
  [
    'another resource',
    'invalid_authorization_details',
    'narrowing.resources',
    { detail: { resources: ['claim:C-103'] } },
  ],
  ['another purpose', 'invalid_authorization_details', 'narrowing.purpose', { detail: { purpose: 'marketing' } }],
  ['another location', 'invalid_authorization_details', 'narrowing.locations', { detail: { locations: [TEAM] } }],
  ['LAB-53: an unknown detail type', 'invalid_authorization_details', 'claims_shape', { detail: { type: 'x' } }],
  [
    'LAB-54: an unknown bound type',
    'invalid_authorization_details',
    'claims_shape',
    { detail: { bounds: { claim_id: { regex: '.' } } } },
  ],
  ['more uses than the parent', 'invalid_authorization_details', 'narrowing.use', { form: { caseops_use: 'count:5' } }],
  ['a use for control', 'invalid_request', 'use', { form: { caseops_use: 'control' } }],
  [
    'more uses than an exchange may have',
    'invalid_request',
    'use',
    { parent: { use: 'count:999' }, form: { caseops_use: 'count:257' } },
  ],
  ['a use that is none', 'invalid_authorization_details', 'claims_shape', { form: { caseops_use: 'always' } }],
  [
    'a server outside the parent',
    'invalid_target',
    'narrowing.aud',
    { parent: { authorization_details: [{ ...childDetail, locations: ['https://crm.test/mcp'] }] } },
  ],
  ['an unknown server', 'invalid_target', 'audience', { form: { resource: 'https://crm.test/mcp' } }],
  [
    'a parent addressed to another team',
    'invalid_grant',
    'audience',
    { parent: { aud: 'https://team-legal.test/a2a' } },
  ],
  [
    'an expired parent',
    'invalid_grant',
    'expired',
    { parent: { iat: 1_784_732_200, nbf: 1_784_732_200, exp: 1_784_732_400 } },
  ],
  ['a control lease', 'invalid_grant', 'lease_kind', { parent: { use: 'control' } }],
  ['no lease', 'invalid_grant', 'lease_malformed', { form: { subject_token: 'x' } }],
  ['another grant type', 'unsupported_grant_type', 'request', { form: { grant_type: 'client_credentials' } }],
  [
    'another token type',
    'invalid_request',
    'request',
    { form: { subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' } },
  ],
  [
    'details that are no JSON',
    'invalid_authorization_details',
    'request',
    { form: { authorization_details: '[{"a":1,"a":2}]' } },
  ],
  ['a client without assertion', 'invalid_client', 'client_assertion', { form: { client_assertion: 'x' } }],
  [
    'an assertion for another issuer',
    'invalid_client',
    'client_audience',
    { request: assertionWith({ aud: 'https://other.test' }) },
  ],
  [
    'an assertion that is old',
    'invalid_client',
    'client_time',
    { request: assertionWith({ iat: 1_784_731_000, exp: 1_784_731_060 }) },
  ],
  ['an assertion for an hour', 'invalid_client', 'client_time', { request: assertionWith({ exp: 1_784_736_000 }) }],
  [
    'an assertion in which another speaks',
    'invalid_client',
    'client_assertion',
    { request: assertionWith({ iss: 'team-legal' }) },
  ],
  [
    'no proof',
    'invalid_dpop_proof',
    'proof_missing',
    { request: (request) => ({ ...request, headers: { ...request.headers, dpop: undefined } }) },
  ],
  ['a proof by another key', 'invalid_dpop_proof', 'proof_key', { request: provenBy }],
  [
    'a body changed after its proof',
    'invalid_dpop_proof',
    'body_digest',
    { request: (request) => ({ ...request, body: Buffer.concat([request.body, Buffer.from('&x=1')]) }) },
  ],
  [
    'a parameter named twice',
    'invalid_request',
    'request',
    { request: (request) => ({ ...request, body: Buffer.concat([request.body, Buffer.from('&resource=x')]) }) },
  ],
  [
    'JSON instead of a form',
    'invalid_request',
    'request',
    { request: (request) => ({ ...request, headers: { ...request.headers, 'content-type': 'application/json' } }) },
  ],
  ['GET', 'invalid_request', 'request', { request: (request) => ({ ...request, method: 'GET' }) }],
  ['an oversize form', 'invalid_request', 'request', { form: { padding: 'x'.repeat(70_000) } }],
];

for (const [name, error, code, change] of refusals) {
  void test(`no lease is given for ${name}`, async () => {
    const { status, said } = await ask(change);
    assert.ok(status >= 400 && status < 500, `status ${status}`);
    assert.deepEqual([said['error'], said['code'], said['boundary']], [error, code, 'issuer']);
    assert.equal(said['access_token'], undefined);
  });
}

void test('what its children use together never exceeds the parent, whatever is asked at once', async () => {
  const world = leaseWorld();
  await using store = openSqliteStore({ path: ':memory:', clock: world.clock });
  const more = ['https://team-claims.test/mcp', TEAM];
  const parent = { authorization_details: [{ ...childDetail, locations: more }], use: 'count:3' };
  const answers = await Promise.all(more.map((resource) => send(world, store, { parent, form: { resource } })));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400],
  );
  assert.equal(answers.find(({ status }) => status === 400)?.said['code'], 'use_exhausted');
});

void test('a refused exchange uses nothing up', async () => {
  const world = leaseWorld();
  await using store = openSqliteStore({ path: ':memory:', clock: world.clock });
  const refused = await send(world, store, { detail: { purpose: 'marketing' } });
  assert.equal(refused.status, 400);
  assert.equal((await send(world, store, {})).status, 200);
});

void test('a registry that fails gives out nothing and says later', async () => {
  const world = leaseWorld();
  const store = openSqliteStore({ path: ':memory:', clock: world.clock });
  await store[Symbol.asyncDispose]();
  const broken: Store = { ...store, write: () => Promise.resolve({ ok: true }) };
  const { status, said } = await send(world, broken, {});
  assert.deepEqual([status, said['code'], said['outcome']], [503, 'registry', 'retry']);
});

void test('a revoked parent is not exchanged', async () => {
  const world = leaseWorld();
  await using store = openSqliteStore({ path: ':memory:', clock: world.clock });
  const row = { ...leaseRowOf(world.claims(), undefined), revokedAt: world.claims().iat };
  await store.write([{ table: 'lease', row }]);
  assert.equal((await send(world, store, {})).said['code'], 'lease_revoked');
});

function assertionWith(claims: Readonly<Record<string, unknown>>): NonNullable<Change['request']> {
  return (request, world) => {
    const form = new URLSearchParams(Buffer.from(request.body).toString());
    const iat = Math.floor(world.clock.nowMs() / 1_000);
    const lawful = { iss: 'team-claims', sub: 'team-claims', aud: ISSUER, iat, exp: iat + 60, jti: 'a-1' };
    form.set('client_assertion', world.teamKey.sign({ kid: world.teamKey.thumbprint }, { ...lawful, ...claims }));
    return { ...request, body: Buffer.from(form.toString()) };
  };
}

function provenBy(request: TokenRequest, world: LeaseWorld): TokenRequest {
  const holder = { signer: generateSigner(), clock: world.clock, ids: world.ids };
  const dpop = makeProof(holder, { method: 'POST', target: TOKEN_ENDPOINT, body: request.body, ath: undefined });
  return { ...request, headers: { ...request.headers, dpop } };
}
