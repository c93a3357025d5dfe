import assert from 'node:assert/strict';
import test from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { rootGrant } from '#contracts/lease.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { createDevelopmentIssuer, DEVELOPMENT_ACCOUNTS } from './development-issuer.ts';
import { generateSigner } from './es256.ts';

const clock = seededClock(1_784_732_400_000);
const signer = generateSigner();
const options = {
  issuer: 'http://127.0.0.1/dev',
  audience: 'caseops-api',
  signer,
  clock,
  ids: seededIds('dev'),
  supervisor: 'supervisor',
  purposes: ['investigation'],
  actions: ['claims:read'],
};
const issuer = createDevelopmentIssuer(options);
const verdict = (token: string): string => {
  const got = issuer.verify(token);
  return got.ok ? got.grant.sub : got.code;
};

void test('each account gets back its own grant, and only requesters may have something done', () => {
  assert.deepEqual(DEVELOPMENT_ACCOUNTS, ['requester@t9', 'approver@t9', 'auditor@t9', 'requester@t8']);
  for (const account of DEVELOPMENT_ACCOUNTS) {
    const got = issuer.verify(issuer.tokenFor(account));
    assert.ok(got.ok);
    assert.deepEqual(rootGrant.parse(got.grant), issuer.grantFor(account));
    const [role, tenant] = account.split('@');
    assert.deepEqual([got.grant.sub, got.grant.tenant, got.grant.roles], [account, tenant, [role]]);
    assert.deepEqual(got.grant.actions, role === 'requester' ? ['claims:read'] : []);
    assert.deepEqual(got.grant.may_act, { sub: 'supervisor' });
  }
});

void test('an installation with accounts of its own has those and no others', () => {
  const own = createDevelopmentIssuer({ ...options, accounts: ['requester@tenant-7', 'approver@tenant-7'] });
  const got = own.verify(own.tokenFor('approver@tenant-7'));
  assert.ok(got.ok);
  assert.deepEqual([got.grant.tenant, got.grant.roles, got.grant.actions], ['tenant-7', ['approver'], []]);
  assert.deepEqual(own.grantFor('requester@tenant-7').actions, ['claims:read']);
  assert.throws(() => own.tokenFor('requester@t9'), CaseOpsError);
});

void test('an account that does not exist is refused', () => {
  for (const account of ['root@t9', 'constructor']) {
    assert.throws(
      () => issuer.tokenFor(account),
      (error) => error instanceof CaseOpsError && error.code === 'ERR_UNAUTHENTICATED',
    );
  }
});

void test('a token is refused when it is old, foreign, for another audience, or a lease', () => {
  const token = issuer.tokenFor('auditor@t9');
  assert.equal(verdict(token), 'auditor@t9');
  assert.equal(verdict(''), 'malformed');
  assert.equal(verdict(`${token}x`), 'signature');
  assert.equal(
    verdict(createDevelopmentIssuer({ ...options, signer: generateSigner() }).tokenFor('auditor@t9')),
    'signature',
  );
  assert.equal(verdict(createDevelopmentIssuer({ ...options, audience: 'other' }).tokenFor('auditor@t9')), 'audience');
  assert.equal(verdict(createDevelopmentIssuer({ ...options, issuer: 'other' }).tokenFor('auditor@t9')), 'issuer');
  const body = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
  const kid = signer.thumbprint;
  assert.equal(verdict(signer.sign({ typ: 'at+jwt', kid }, body)), 'malformed');
  assert.equal(verdict(signer.sign({ typ: 'user+jwt', kid }, { ...body, tenant: 't8' })), 'account');
  assert.equal(verdict(signer.sign({ typ: 'user+jwt', kid }, { ...body, sub: 'root@t9' })), 'account');
  clock.jump(899_000);
  assert.equal(verdict(token), 'auditor@t9');
  clock.jump(1_000);
  assert.equal(verdict(token), 'expired');
});
