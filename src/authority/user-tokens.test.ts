import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { seededClock } from '#testing/seeded-clock.ts';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { createUserTokens, type UserTokensOptions } from './user-tokens.ts';

const ISSUER = 'https://login.example';
const NOW_S = 1_785_542_400;
const pair = await generateKeyPair('ES256');
const jwk: JWK = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' };

const options = (over: Partial<UserTokensOptions> = {}): UserTokensOptions => ({
  issuer: ISSUER,
  audience: 'caseops',
  jwks: { keys: [jwk] },
  claims: { subject: '/email', tenant: '/org', roles: '/realm_access/roles' },
  tenants: ['t9'],
  roles: {
    'claims-clerk': { roles: ['requester'], purposes: ['claim_investigation'], actions: ['claims:read'] },
    'claims-lead': { roles: ['approver'], purposes: [], actions: [] },
  },
  supervisor: 'spiffe://caseops.local/supervisor',
  clock: seededClock(NOW_S * 1_000),
  ...over,
});

interface Signed {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly issuer?: string;
  readonly audience?: string;
  readonly expiresAtS?: number;
  readonly key?: CryptoKey;
}

function token({ claims, issuer = ISSUER, audience = 'caseops', expiresAtS = NOW_S + 60, key }: Signed = {}) {
  return new SignJWT({ email: 'kim@example.com', org: 't9', realm_access: { roles: ['claims-clerk'] }, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(NOW_S)
    .setExpirationTime(expiresAtS)
    .sign(key ?? pair.privateKey);
}

const codeOf = async (text: string, over: Partial<UserTokensOptions> = {}): Promise<string> => {
  const verdict = await createUserTokens(options(over)).verify(text);
  return verdict.ok ? 'ok' : verdict.code;
};

test('roles of the token become exactly what the table grants for them', async () => {
  const both = await token({ claims: { realm_access: { roles: ['claims-clerk', 'claims-lead', 'unknown'] } } });
  const verdict = await createUserTokens(options()).verify(both);
  assert.ok(verdict.ok);
  assert.deepEqual(verdict.grant, {
    sub: 'kim@example.com',
    tenant: 't9',
    purposes: ['claim_investigation'],
    actions: ['claims:read'],
    may_act: { sub: 'spiffe://caseops.local/supervisor' },
    roles: ['requester', 'approver'],
  });
});

test('a token of another issuer, audience, time, key, tenant or role is refused by its own code', async () => {
  const other = await generateKeyPair('ES256');
  assert.equal(await codeOf(await token()), 'ok');
  assert.equal(await codeOf(await token({ issuer: 'https://evil.example' })), 'claims');
  assert.equal(await codeOf(await token({ audience: 'other' })), 'claims');
  assert.equal(await codeOf(await token({ expiresAtS: NOW_S - 60 })), 'claims');
  assert.equal(await codeOf(await token({ key: other.privateKey })), 'signature');
  assert.equal(await codeOf(await token({ claims: { org: 't8' } })), 'tenant');
  assert.equal(await codeOf(await token({ claims: { org: 7 } })), 'claims');
  assert.equal(await codeOf(await token({ claims: { realm_access: { roles: ['__proto__', 'admin'] } } })), 'role');
  assert.equal(await codeOf('not a token'), 'malformed');
  assert.equal(await codeOf('x'.repeat(20_000)), 'malformed');
});

test('an unsigned token and one signed with a shared secret are refused', async () => {
  const body = Buffer.from(JSON.stringify({ iss: ISSUER, aud: 'caseops', exp: NOW_S + 60 })).toString('base64url');
  const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  assert.notEqual(await codeOf(`${none}.${body}.`), 'ok');
  const shared = await new SignJWT({ email: 'kim@example.com', org: 't9', realm_access: { roles: ['claims-clerk'] } })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience('caseops')
    .setExpirationTime(NOW_S + 60)
    .sign(new TextEncoder().encode('x'.repeat(32)));
  assert.equal(await codeOf(shared), 'signature');
});

test('keys are read from the discovery document of the pinned issuer, and never from another origin', async (t) => {
  let jwksUri = '';
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/keys' ? { keys: [jwk] } : { issuer: own, jwks_uri: jwksUri }));
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => void server.once('listening', resolve));
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const signed = await token({ issuer: own });
  jwksUri = `${own}/keys`;
  assert.equal(await codeOf(signed, { issuer: own, jwks: undefined }), 'ok');
  jwksUri = 'http://127.0.0.1:9/keys';
  assert.equal(await codeOf(signed, { issuer: own, jwks: undefined }), 'keys');
});
