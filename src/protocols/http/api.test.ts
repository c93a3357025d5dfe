import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import { createHttpEdge } from './api.ts';
import { problemOf, statusOf } from './problem.ts';

const grant: RootGrant = {
  sub: 'requester@t9',
  tenant: 't9',
  purposes: [],
  actions: [],
  may_act: { sub: 'supervisor' },
  roles: [],
};
const digest = `sha256:${'0'.repeat(64)}` as const;
const view: RunView = {
  contractVersion: '1.2.0',
  runId: 'run_1',
  tenant: 't9',
  sessionId: null,
  requestedBy: 'requester@t9',
  trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
  state: 'ended',
  result: 'completed',
  needsHuman: false,
  reason: null,
  statement: { text: 'Why <script>alert(1)</script> C-102?', language: 'en' },
  goal: null,
  plan: null,
  findings: [],
  steps: [],
  blocked: null,
  erased: null,
  migrations: [],
  revisions: [],
  arrivals: [],
  arrivalCount: 0,
  claims: [],
  unsaid: [],
  missingSteps: [],
  effects: [],
  used: { toolCallCount: 0, modelTokenCount: 0 },
  receivedAt: '2026-07-23T09:00:00.000Z',
  endedAt: '2026-07-23T09:00:01.000Z',
  durationMs: 1000,
  lastSeq: 3,
  chainHead: digest,
};
const none = (): never => {
  throw new CaseOpsError('ERR_NOT_FOUND', 'run_9 does not exist.', { at: 'desk' });
};
const asked: unknown[] = [];
const desk: RunDesk = {
  submit: async (_grant, request) => {
    asked.push(request);
    return { view, replayed: request.idempotencyKey === 'seen' };
  },
  quota: () => ({ goalCountMax: 60, windowS: 60, goalCountLeft: 59, resetS: 1 }),
  view: async (_grant, runId) => (runId === 'run_1' ? view : none()),
  list: async () => [],
  settled: async () => view,
  follow: async function* () {},
  answer: async () => none(),
  cancel: async () => none(),
  migrate: async () => none(),
  resolve: async () => none(),
  replan: async () => none(),
  why: async () => [],
  agents: async () => [],
  preview: async () => none(),
  validate: async () => none(),
  approvals: async () => [],
  approval: async () => none(),
  decide: async () => none(),
  withdraw: async () => none(),
  repropose: async () => none(),
  effects: async () => [],
  effect: async () => none(),
  reconcile: async () => none(),
  compensate: async () => none(),
};
const app = createHttpEdge({
  desk,
  authenticate: (token) => (token === 'good' ? grant : undefined),
  token: async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
  jwks: () => ({ keys: [] }),
  assetsDirectory: join(import.meta.dirname, '../../../assets'),
});
const call = (path: string, init: RequestInit = {}): Promise<Response> => Promise.resolve(app.request(path, init));
const signedIn = { authorization: 'Bearer good', 'content-type': 'application/json' };
const problem = async (response: Response) => {
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  return (await response.json()) as { code: string; status: number; detail: string };
};

test('a request without a valid token is 401 with a challenge, on every route of the API', async () => {
  for (const path of ['/api/v1/runs', '/api/v1/runs/run_1', '/api/v1/agents', '/api/v1/whoami']) {
    const response = await call(path, { headers: { authorization: 'Bearer bad' } });
    assert.equal(response.status, 401);
    assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
    assert.equal((await problem(response)).code, 'ERR_UNAUTHENTICATED');
  }
});

test('an unknown path and an unknown run are problem documents with 404', async () => {
  assert.equal((await problem(await call('/nothing'))).code, 'ERR_NOT_FOUND');
  assert.equal((await problem(await call('/api/v1/runs/run_9', { headers: signedIn }))).status, 404);
});

test('malformed bodies are refused before anything is asked of a run', async () => {
  const before = asked.length;
  const post = (body: string, headers: Record<string, string> = signedIn) =>
    call('/api/v1/runs', { method: 'POST', headers, body });
  const cases: [Response, string][] = [
    [await post('{'), 'ERR_JSON_SYNTAX'],
    [await post('{"text":"a","text":"b"}'), 'ERR_JSON_DUPLICATE_NAME'],
    [await post('{"text":"\\ud800"}'), 'ERR_JSON_UNICODE'],
    [await post(`{"text":${'['.repeat(40)}${']'.repeat(40)}}`), 'ERR_JSON_DEPTH'],
    [await post(JSON.stringify({ text: 'x'.repeat(1_100_000) })), 'ERR_JSON_SIZE'],
    [await post('{"text":1}'), 'ERR_SCHEMA'],
    [await post('{"text":"a","more":1}'), 'ERR_SCHEMA'],
    [await post('{"text":"a"}', { authorization: 'Bearer good', 'content-type': 'text/plain' }), 'ERR_USAGE'],
    [await post('{"text":"a"}', { ...signedIn, 'idempotency-key': 'x'.repeat(300) }), 'ERR_USAGE'],
  ];
  for (const [response, code] of cases) assert.equal((await problem(response)).code, code);
  assert.equal(asked.length, before);
});

test('a value of a query that is not what it should be is refused by its name', async () => {
  const wrong = [
    ['/api/v1/runs?limit=abc', 'limit'],
    ['/api/v1/runs?limit=0', 'limit'],
    ['/api/v1/runs?limit=201', 'limit'],
    ['/api/v1/runs?result=fine', 'result'],
    ['/api/v1/runs?state=asleep', 'state'],
    ['/api/v1/runs/run_1/events?after=-1', 'after'],
    ['/api/v1/approvals?state=maybe', 'state'],
    ['/api/v1/approvals?limit=1e3', 'limit'],
    ['/api/v1/effects?state=maybe', 'state'],
  ] as const;
  for (const [path, name] of wrong) {
    const { status, code, detail } = await problem(await call(path, { headers: signedIn }));
    assert.deepEqual([status, code], [400, 'ERR_USAGE'], path);
    assert.match(detail, new RegExp(`Expected .* as ${name}, got "`), path);
  }
});

test('a submission carries its idempotency key and answers with the run and its location', async () => {
  const response = await call('/api/v1/runs', {
    method: 'POST',
    headers: { ...signedIn, 'idempotency-key': 'k1' },
    body: '{"text":"Why C-102?"}',
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('location'), '/api/v1/runs/run_1');
  assert.deepEqual(asked.at(-1), {
    traceparent: undefined,
    text: 'Why C-102?',
    language: undefined,
    sessionId: undefined,
    idempotencyKey: 'k1',
  });
});

test('the page signs a browser in once and shows text as text', async () => {
  const first = await call('/runs/run_1?key=good&claim=status');
  assert.equal(first.status, 303);
  assert.equal(first.headers.get('location'), '/runs/run_1?claim=status');
  assert.match(first.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Strict/);
  const page = await call('/runs/run_1', { headers: { cookie: 'caseops=good' } });
  const text = await page.text();
  assert.equal(page.status, 200);
  assert.ok(!text.includes('<script>alert'), 'the statement must be escaped');
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal((await call('/runs/run_1')).status, 401);
});

test('only the named assets are served', async () => {
  assert.equal((await call('/assets/tokens.css')).status, 200);
  for (const name of ['..%2fpackage.json', 'package.json', 'constructor'])
    assert.equal((await call(`/assets/${name}`)).status, 404);
});

test('statuses are pinned, and text of an unexpected failure stays inside', () => {
  assert.deepEqual(
    (
      [
        'ERR_NOT_FOUND',
        'ERR_UNAUTHENTICATED',
        'ERR_IDEMPOTENCY_KEY_REUSED',
        'ERR_BUDGET',
        'ERR_TEAM_UNREACHABLE',
        'ERR_GOAL_TOO_LARGE',
        'ERR_PLAN_REFUSED',
        'ERR_DENIED',
      ] as const
    ).map(statusOf),
    [404, 401, 409, 429, 503, 413, 422, 403],
  );
  const hidden = problemOf(new Error('password=hunter2'), '/x');
  assert.equal(hidden.status, 500);
  assert.ok(!JSON.stringify(hidden).includes('hunter2'));
});
