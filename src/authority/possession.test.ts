import assert from 'node:assert/strict';
import test from 'node:test';
import * as jose from 'jose';
import { CaseOpsError } from '#contracts/error.ts';
import { TEAM, leaseWorld } from '#testing/lease-world.ts';
import { generateSigner } from './es256.ts';
import { signLease } from './lease-token.ts';
import { holdLease, receivedLease } from './possession.ts';
import { sha256Base64Url } from './sha256.ts';

const world = leaseWorld();
const token = signLease(world.issuerKey, world.claims());
const holder = { signer: world.supervisorKey, clock: world.clock, ids: world.ids };
const lease = holdLease(token, holder);

void test('a proof is what RFC 9449 asks for, and covers the body as well', async () => {
  const proof = lease.prove('POST', `${TEAM}?x=1#y`, '{"q":1}');
  const { payload, protectedHeader } = await jose.jwtVerify(proof, jose.EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: ['ES256'],
    currentDate: new Date(world.clock.nowMs()),
  });
  assert.equal(await jose.calculateJwkThumbprint(protectedHeader.jwk ?? {}), world.supervisorKey.thumbprint);
  const { jti, ...rest } = payload;
  assert.ok(jti);
  assert.deepEqual(rest, {
    htm: 'POST',
    htu: TEAM,
    iat: Math.floor(world.clock.nowMs() / 1_000),
    ath: sha256Base64Url(token),
    caseops_bdg: sha256Base64Url('{"q":1}'),
  });
});

const digest = (body: string | Uint8Array): unknown => jose.decodeJwt(lease.prove('GET', TEAM, body))['caseops_bdg'];

void test('an empty body has the digest of the empty string, and bytes that of their text', () => {
  assert.equal(digest(''), '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
  assert.equal(digest(new Uint8Array()), digest(''));
  assert.equal(digest(new TextEncoder().encode('é')), digest('é'));
});

void test('each proof is another', () => {
  const one = jose.decodeJwt(lease.prove('POST', TEAM, ''));
  const two = jose.decodeJwt(lease.prove('POST', TEAM, ''));
  assert.notEqual(one.jti, two.jti);
});

void test('a lease bound to another key, and a text that is no lease, are not held', () => {
  for (const [text, signer, code] of [
    [token, generateSigner(), 'proof_key'],
    ['a.b.c', world.supervisorKey, 'lease_malformed'],
    ['', world.supervisorKey, 'lease_malformed'],
  ] as const) {
    assert.throws(
      () => holdLease(text, { ...holder, signer }),
      (error) => error instanceof CaseOpsError && error.code === 'ERR_LEASE' && error.detail['code'] === code,
    );
  }
});

void test('a received lease cannot be proven by its receiver', () => {
  const lawful = { authorization: `DPoP ${token}`, method: 'POST', target: TEAM, body: new Uint8Array() };
  const got = world.guard().authenticate({ ...lawful, proof: lease.prove('POST', TEAM, '') });
  assert.equal(got.outcome, 'permit');
  const received = receivedLease(got.value);
  assert.equal(received.leaseId, lease.leaseId);
  assert.throws(() => received.prove('POST', TEAM, ''), CaseOpsError);
});
