import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { ApprovalDesk, DecideRequest } from '#ports/approval-desk.ts';
import { Hono } from 'hono';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalRoutes, effectRoutes } from './approval-routes.ts';
import { problemResponse } from './problem.ts';
import type { ApiEnvironment } from './run-routes.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const GRANT: RootGrant = {
  sub: 'approver@t9',
  tenant: 't9',
  purposes: [],
  actions: [],
  may_act: { sub: 'supervisor' },
  roles: ['approver'],
};

interface Asked {
  readonly decided: DecideRequest[];
  reconciled: unknown;
}

function app(asked: Asked): Hono<ApiEnvironment> {
  const none = (): never => {
    throw new CaseOpsError('ERR_NOT_FOUND', 'There is none.', { at: 'desk' });
  };
  const desk = {
    approvals: async () => [],
    approval: async () => ({ proposal: { actionDigest: DIGEST } }),
    decide: async (_grant: RootGrant, request: DecideRequest) => {
      asked.decided.push(request);
      if (request.digest !== DIGEST) throw new CaseOpsError('ERR_APPROVAL_DIGEST', 'Another action.', { at: 'kernel' });
      return { state: 'approved' };
    },
    withdraw: none,
    repropose: none,
    effects: async () => [],
    effect: none,
    reconcile: async (_grant: RootGrant, request: unknown) => {
      asked.reconciled = request;
      return {};
    },
    compensate: none,
  } as unknown as ApprovalDesk;
  const root = new Hono<ApiEnvironment>();
  root.onError((error, c) => problemResponse(error, c.req.path));
  root.use('*', async (c, next) => {
    c.set('grant', GRANT);
    await next();
  });
  root.route('/approvals', approvalRoutes(desk));
  root.route('/effects', effectRoutes(desk));
  return root;
}

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

test('a decision names the digest of the action in If-Match; another is 412, none is 428', async () => {
  const asked: Asked = { decided: [], reconciled: undefined };
  const edge = app(asked);
  const decide = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await edge.request('/approvals/apv_1/decision', post({ disposition: 'approved' }, headers))).status;
  assert.equal(await decide({}), 428);
  assert.equal(await decide({ 'if-match': DIGEST }), 428, 'an entity tag is quoted');
  assert.equal(await decide({ 'if-match': `W/"${DIGEST}"` }), 428, 'a weak tag decides nothing');
  assert.equal(asked.decided.length, 0);
  assert.equal(await decide({ 'if-match': `"sha256:${'b'.repeat(64)}"` }), 412);
  assert.equal(await decide({ 'if-match': `"${DIGEST}"` }), 200);
  const last = asked.decided.at(-1);
  assert.deepEqual([last?.channel, last?.disposition], ['http', 'approved']);
});

test('an approval is shown with the digest to decide by as its entity tag', async () => {
  const shown = await app({ decided: [], reconciled: undefined }).request('/approvals/apv_1');
  assert.equal(shown.headers.get('etag'), `"${DIGEST}"`);
});

test('"approved: true" or a forged approver in a body is refused, not read', async () => {
  const edge = app({ decided: [], reconciled: undefined });
  for (const body of [{ disposition: 'approved', approved: true }, { disposition: 'approved', by: 'chief@t9' }, {}])
    assert.equal(
      (await edge.request('/approvals/apv_1/decision', post(body, { 'if-match': `"${DIGEST}"` }))).status,
      422,
    );
});

test('a reconciliation asks the owner unless the person says what was found', async () => {
  const asked: Asked = { decided: [], reconciled: undefined };
  const edge = app(asked);
  await edge.request('/effects/eff_1/reconcile', post({}));
  assert.deepEqual(asked.reconciled, { effectId: 'eff_1', finding: undefined, reason: null });
  await edge.request('/effects/eff_1/reconcile', post({ finding: 'absent', reason: 'Asked.' }));
  assert.deepEqual(asked.reconciled, { effectId: 'eff_1', finding: 'absent', reason: 'Asked.' });
  assert.equal((await edge.request('/effects/eff_1/reconcile', post({ finding: 'maybe' }))).status, 422);
  assert.equal((await edge.request('/effects/eff_9')).status, 404);
});
