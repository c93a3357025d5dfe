import assert from 'node:assert/strict';
import test from 'node:test';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import fc from 'fast-check';
import * as jose from 'jose';
import { CaseOpsError } from '#contracts/error.ts';
import { encodeBase64Url } from './base64url.ts';
import { canonicalCard } from './card-canonical.ts';
import { signCard, verifyCard } from './card-trust.ts';
import { createSigner, generatePrivateJwk, generateSigner } from './es256.ts';

const jwk = generatePrivateJwk();
const signer = createSigner(jwk);
const pinned = [signer.publicJwk];
const card = {
  name: 'claims',
  description: '',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1:1/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
  capabilities: { streaming: true, extensions: [{ uri: 'urn:caseops:ext:authority-lease:v1', required: true }] },
  securitySchemes: {
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://auth.test/.well-known/openid-configuration' } },
  },
  defaultInputModes: ['application/json'],
  defaultOutputModes: ['application/json'],
  skills: [{ id: 's', name: 's', description: 's', tags: [] }],
};
const signed = JSON.stringify(signCard(card, signer));

interface OpenCard {
  name?: string;
  description?: string;
  securitySchemes: { oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: string } } };
  supportedInterfaces: { url: string; tenant?: string }[];
  capabilities: { extensions: { required: boolean }[] };
  signatures?: { protected: string; signature: string }[];
  [member: string]: unknown;
}

const changed = (change: (open: OpenCard) => void): string => {
  const open = JSON.parse(signed) as OpenCard;
  change(open);
  return JSON.stringify(open);
};
const code = (text: string, keys = pinned): string => {
  const verdict = verifyCard(text, keys);
  return verdict.ok ? `ok ${verdict.kid}` : verdict.code;
};

void test('the example of A2A 1.0.1 §8.4.1 has the canonical form that the specification gives', () => {
  const example = {
    name: 'Example Agent',
    description: '',
    capabilities: { streaming: false, pushNotifications: false, extensions: [] },
    skills: [],
  };
  assert.deepEqual(canonicalCard(example), {
    ok: true,
    text: '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
  });
});

void test('a signed card verifies under its pinned key, and jose agrees', async () => {
  assert.equal(code(signed), `ok ${signer.thumbprint}`);
  const canonical = canonicalCard(card);
  const [signature] = (JSON.parse(signed) as OpenCard).signatures ?? [];
  assert.ok(canonical.ok && signature);
  const payload = encodeBase64Url(canonical.text);
  await jose.flattenedVerify({ ...signature, payload }, await jose.importJWK({ ...signer.publicJwk }, 'ES256'));
});

void test('a card that the A2A SDK signed verifies here', async () => {
  const plain = { ...card, description: 'd', securitySchemes: {}, skills: [{ ...card.skills[0], tags: ['t'] }] };
  const header = { alg: 'ES256', typ: 'JOSE', kid: signer.thumbprint };
  const theirs = await generateAgentCardSignature({ ...jwk }, header)(AgentCard.fromJSON(plain));
  assert.equal(code(JSON.stringify({ ...plain, signatures: theirs.signatures })), `ok ${signer.thumbprint}`);
});

void test('what does not change the meaning does not change the verdict', () => {
  const reordered = changed((open) => {
    const { name } = open;
    delete open.name;
    if (name !== undefined) open.name = name;
    for (const door of open.supportedInterfaces) door.tenant = '';
  });
  assert.equal(code(reordered), `ok ${signer.thumbprint}`);
});

const swaps: readonly (readonly [name: string, change: (open: OpenCard) => void, code: string])[] = [
  [
    'a swapped OIDC URL',
    (open) => (open.securitySchemes.oidc.openIdConnectSecurityScheme.openIdConnectUrl = 'x'),
    'card_signature',
  ],
  [
    'a swapped interface URL',
    (open) => open.supportedInterfaces.forEach((door) => (door.url = 'http://evil')),
    'card_signature',
  ],
  ['a tenant added', (open) => open.supportedInterfaces.forEach((door) => (door.tenant = 't8')), 'card_signature'],
  ['a required member dropped', (open) => delete open.description, 'card_signature'],
  [
    'a required extension made optional',
    (open) => open.capabilities.extensions.forEach((item) => (item.required = false)),
    'card_signature',
  ],
  ['an unknown member', (open) => (open['x'] = 1), 'card_member'],
  [
    'an unknown nested member',
    (open) => open.supportedInterfaces.forEach((door) => Object.assign(door, { x: 1 })),
    'card_member',
  ],
  ['an unknown member called constructor', (open) => Object.assign(open, { constructor: 1 }), 'card_member'],
  ['no signatures', (open) => delete open.signatures, 'card_unsigned'],
  [
    'nine signatures',
    (open) => (open.signatures = Array.from({ length: 9 }, () => ({ protected: 'a', signature: 'b' }))),
    'card_unsigned',
  ],
];

for (const [name, change, expected] of swaps) {
  void test(`a card with ${name} is refused`, () => assert.equal(code(changed(change)), expected));
}

void test('a foreign key is not trusted for its jku, nor for a jwk in the header', () => {
  const foreign = generateSigner();
  const resigned = JSON.stringify(signCard(card, foreign));
  assert.equal(code(resigned), 'card_key');
  const header = { typ: 'JOSE', kid: foreign.thumbprint, jku: 'https://evil.test/jwks', jwk: foreign.publicJwk };
  const [head = '', , signature = ''] = foreign.signText(header, '{}').split('.');
  assert.equal(code(changed((open) => (open.signatures = [{ protected: head, signature }]))), 'card_key');
});

void test('a header with another typ or crit is refused although its key is pinned', () => {
  const canonical = canonicalCard(card);
  assert.ok(canonical.ok);
  for (const extra of [{ typ: 'JWT' }, { typ: 'JOSE', crit: ['b64'], b64: true }]) {
    const [head = '', , signature = ''] = signer
      .signText({ kid: signer.thumbprint, ...extra }, canonical.text)
      .split('.');
    assert.equal(code(changed((open) => (open.signatures = [{ protected: head, signature }]))), 'card_header');
  }
});

void test('one pinned signature among others is enough, and a member named twice is refused', () => {
  const both = signCard(signCard(card, generateSigner()), signer);
  assert.equal(code(JSON.stringify(both)), `ok ${signer.thumbprint}`);
  assert.equal(code(signed.replace('"name":', '"name":"evil","name":')), 'card_json');
});

void test('a card with an unknown member is not signed', () => {
  assert.throws(
    () => signCard({ ...card, x: 1 }, signer),
    (error) => error instanceof CaseOpsError && error.code === 'ERR_CONFIG' && error.message.includes('card.x'),
  );
});

void test('no change of one character of a signed card gives another card that verifies', () => {
  const before = canonicalCard(JSON.parse(signed));
  fc.assert(
    fc.property(fc.nat(signed.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
      const verdict = verifyCard(signed.slice(0, at) + char + signed.slice(at + 1), pinned);
      if (verdict.ok) assert.deepEqual(canonicalCard(verdict.card), before);
    }),
    { numRuns: 500 },
  );
});
