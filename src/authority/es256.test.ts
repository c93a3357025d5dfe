import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import * as jose from 'jose';
import { CaseOpsError } from '#contracts/error.ts';
import type { PublicJwk } from '#ports/signer.ts';
import { createSigner, generatePrivateJwk, generateSigner, thumbprint, verifier } from './es256.ts';

// RFC 7515, appendix A.3: key, signing input and signature of the ES256 example.
const rfc7515 = {
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  },
  input:
    'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ',
  signature: 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
} as const;

// RFC 9449, figure 2: the key of its example proofs; figure 8 gives the thumbprint that its tokens are bound to.
const rfc9449: PublicJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
  y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
};

void test('the ES256 example of RFC 7515 verifies', () => {
  assert.equal(verifier.verify(rfc7515.key, rfc7515.input, rfc7515.signature), true);
  assert.equal(verifier.verify(rfc7515.key, `${rfc7515.input}A`, rfc7515.signature), false);
});

void test('the key of RFC 9449 has the thumbprint that the RFC gives', async () => {
  assert.equal(thumbprint(rfc9449), '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I');
  assert.equal(thumbprint(rfc7515.key), await jose.calculateJwkThumbprint(rfc7515.key));
});

void test('a second spelling of a signature does not verify', () => {
  const { key, input, signature } = rfc7515;
  const last = signature.at(-1) ?? '';
  const twin = String.fromCharCode(last.charCodeAt(0) + 1);
  assert.deepEqual(Buffer.from(signature.slice(0, -1) + twin, 'base64url'), Buffer.from(signature, 'base64url'));
  assert.equal(verifier.verify(key, input, signature.slice(0, -1) + twin), false);
  assert.equal(verifier.verify(key, input, `${signature}=`), false);
  assert.equal(verifier.verify(key, input, ''), false);
});

void test('a key that is no point of the curve verifies nothing', () => {
  const off = { ...rfc7515.key, y: rfc7515.key.x };
  assert.equal(verifier.verify(off, rfc7515.input, rfc7515.signature), false);
});

void test('what we sign, jose verifies, and what jose signs, we verify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (payload) => {
      const jwk = generatePrivateJwk();
      const signer = createSigner(jwk);
      const ours = signer.sign({ typ: 'JWT' }, payload);
      const read = await jose.compactVerify(ours, await jose.importJWK({ ...signer.publicJwk }, 'ES256'));
      assert.equal(new TextDecoder().decode(read.payload), JSON.stringify(payload));
      const theirs = await new jose.CompactSign(read.payload)
        .setProtectedHeader({ alg: 'ES256' })
        .sign(await jose.importJWK({ ...jwk }, 'ES256'));
      const [header, body, signature = ''] = theirs.split('.');
      assert.equal(verifier.verify(signer.publicJwk, `${header}.${body}`, signature), true);
      assert.equal(verifier.verify(generateSigner().publicJwk, `${header}.${body}`, signature), false);
    }),
    { numRuns: 40 },
  );
});

void test('the signer sets alg itself, whatever its caller says', () => {
  const [header = ''] = generateSigner().sign({ alg: 'none' }, {}).split('.');
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'ES256' });
});

void test('a JWK that is no key is refused without its text', () => {
  assert.throws(
    () => createSigner({ kty: 'EC', crv: 'P-256', x: 'a', y: 'b', d: 'secret' }),
    (error) => error instanceof CaseOpsError && error.code === 'ERR_CONFIG' && !error.message.includes('secret'),
  );
});

void test('more keys than are kept still verify, the first again', () => {
  const first = generateSigner();
  const token = first.sign({}, {});
  const check = (): boolean => {
    const [header, body, signature = ''] = token.split('.');
    return verifier.verify(first.publicJwk, `${header}.${body}`, signature);
  };
  assert.equal(check(), true);
  for (let index = 0; index < 1_100; index += 1) verifier.verify(generateSigner().publicJwk, 'a.b', rfc7515.signature);
  assert.equal(check(), true);
});
