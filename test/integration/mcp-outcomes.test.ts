import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError, type ErrorCode } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ToolOutcome } from '#ports/tool-host.ts';
import { answerClaim, type Handle, noteClaim, openWorld, type World } from './mcp-world.ts';

const wordsOf = (outcome: ToolOutcome): string =>
  [
    outcome.outcome,
    ...('code' in outcome ? [outcome.code] : []),
    ...('reason' in outcome ? [outcome.reason] : []),
    ...('retryAfterMs' in outcome ? [outcome.retryAfterMs] : []),
  ].join(' ');

/** A server that answers each call with what a test says, whatever was asked. */
function scripted(answer: () => Response): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async () => answer();
}

const rpc = (result: unknown): Response => Response.json({ jsonrpc: '2.0', id: 0, result });
const complete = (fields: Readonly<Record<string, unknown>>): Response =>
  rpc({ resultType: 'complete', content: [], ...fields });

async function outcomeOf(answer: () => Response): Promise<ToolOutcome> {
  await using world = await openWorld({ fetch: scripted(answer) });
  return await world.call({ claim_id: 'C-102' });
}

/** A tool that waits until its caller stops it, and says when it has begun. */
function waiting(): { readonly handle: Handle; readonly begun: Promise<void>; readonly stopped: Promise<void> } {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const handle: Handle = async (_args, { signal }) => {
    begun.resolve();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    stopped.resolve();
    return [];
  };
  return { handle, begun: begun.promise, stopped: stopped.promise };
}

/** A problem as our own servers write it. */
function problem(status: number, headers: Record<string, string> = {}): () => Response {
  const body = JSON.stringify({ outcome: 'deny', code: 'kill_switch', boundary: 'mcp', detail: 'It is off.' });
  return () => new Response(body, { status, headers: { 'content-type': 'application/problem+json', ...headers } });
}

function failing(error: unknown): Handle {
  return () => {
    throw error;
  };
}

function json(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

async function fails(error: unknown): Promise<ToolOutcome> {
  await using world = await openWorld({ handle: failing(error) });
  return await world.call({ claim_id: 'C-102' });
}

function said(code: ErrorCode, detail: CaseOpsError['detail'] = {}): CaseOpsError {
  return new CaseOpsError(code, 'As the tool says.', { at: 'tool', detail });
}

async function stoppedBy(world: World, begun: Promise<void>, reason: unknown): Promise<ToolOutcome> {
  const controller = new AbortController();
  const calling = world.call({ claim_id: 'C-102' }, world.lease(), { signal: controller.signal });
  await begun;
  controller.abort(reason);
  return calling;
}

test('a result that breaks the pinned output schema is a contract violation', async () => {
  const data = { claim_id: 'C-102', who: 'me' };
  const good = { records: [{ id: 'C-102', data }] };
  const outcomes = await Promise.all(
    [
      { structuredContent: { records: [{ id: 'C-102', data: { claim_id: 'C-102' } }] } },
      { structuredContent: { records: [{ id: 7, data }] } },
      { structuredContent: { ...good, extra: true } },
      { structuredContent: 'records' },
      { content: [{ type: 'text', text: JSON.stringify(good) }] },
    ].map((fields) => outcomeOf(() => complete(fields))),
  );
  assert.deepEqual(
    outcomes.map(wordsOf),
    outcomes.map(() => 'contract_violation ERR_TOOL_OUTPUT_SCHEMA'),
  );
  const fine = await outcomeOf(() => complete({ structuredContent: good }));
  assert.equal(fine.outcome === 'ok' && fine.resultDigest, digestOf(good));
});

test('an answer that two readers could read differently, or that is too large, is a contract violation', async () => {
  const outcomes = await Promise.all([
    outcomeOf(() => json('{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","content":[],"content":[]}}')),
    outcomeOf(() => json('{"jsonrpc":')),
    outcomeOf(() => json(`"${'x'.repeat(5_000_000)}"`)),
    outcomeOf(() => new Response('<html>', { headers: { 'content-type': 'text/html' } })),
  ]);
  assert.deepEqual(
    outcomes.map(wordsOf),
    outcomes.map(() => 'contract_violation ERR_TOOL_OUTPUT_SCHEMA'),
  );
});

test('a task or a wish for input instead of a result is a contract violation of its own', async () => {
  const task = await outcomeOf(() => rpc({ resultType: 'task', task: { taskId: 't1', status: 'working' } }));
  const input = await outcomeOf(() => rpc({ resultType: 'input_required', requestState: 'x' }));
  assert.deepEqual([task, input].map(wordsOf), [
    'contract_violation ERR_TOOL_RESULT_TYPE',
    'contract_violation ERR_TOOL_RESULT_TYPE',
  ]);
});

test('what HTTP says around MCP keeps its own outcome', async () => {
  const words = await Promise.all(
    [
      problem(403),
      problem(429, { 'retry-after': '3' }),
      problem(503, { 'retry-after': '2' }),
      problem(503),
      problem(500),
      () => new Response('<html>', { status: 404 }),
      () => Response.redirect('http://127.0.0.1:1/elsewhere', 307),
    ].map(async (answer) => wordsOf(await outcomeOf(answer))),
  );
  assert.deepEqual(words, [
    'refused kill_switch',
    'throttled 3000',
    'throttled 2000',
    'unknown_outcome',
    'unknown_outcome',
    'refused http_404',
    'refused http_307',
  ]);
});

test('a tool that fails says its code and sentence; what it did not mean to say stays inside', async () => {
  const known = await fails(said('ERR_NOT_FOUND'));
  assert.deepEqual(
    [wordsOf(known), 'message' in known && known.message],
    ['tool_error ERR_NOT_FOUND', 'As the tool says.'],
  );
  const unexpected = await fails(new Error('password=hunter2'));
  assert.equal(wordsOf(unexpected), 'tool_error ERR_TOOL_FAILED');
  assert.doesNotMatch(JSON.stringify(unexpected), /hunter2/);
  assert.equal(wordsOf(await fails(said('ERR_TOOL_THROTTLED', { retryAfterMs: 250 }))), 'throttled 250');
  assert.equal(wordsOf(await fails(said('ERR_TOOL_THROTTLED'))), 'throttled 1000');
});

test('an error outside the error schema is a tool error without its text', async () => {
  const outcome = await outcomeOf(() => complete({ isError: true, content: [{ type: 'text', text: 'stack trace' }] }));
  assert.equal(wordsOf(outcome), 'tool_error ERR_TOOL_FAILED');
  assert.doesNotMatch(JSON.stringify(outcome), /stack trace/);
});

test('abort, deadline and revocation of a call in flight are told apart, and the tool sees the stop', async () => {
  const reasons = [
    [new Error('the worker is done'), 'cancelled aborted'],
    ['a string', 'cancelled aborted'],
    [new CaseOpsError('ERR_CANCELLED', 'Cancelled.', { at: 'test' }), 'cancelled aborted'],
    [new CaseOpsError('ERR_DEADLINE', 'Too late.', { at: 'test' }), 'cancelled deadline'],
    [new CaseOpsError('ERR_LEASE', 'Revoked.', { at: 'test' }), 'cancelled lease_revoked'],
  ] as const;
  for (const [reason, expected] of reasons) {
    const { handle, begun, stopped } = waiting();
    await using world = await openWorld({ handle });
    assert.equal(wordsOf(await stoppedBy(world, begun, reason)), expected);
    await stopped;
  }
});

test('a tool that takes longer than its contract allows is cancelled by deadline', async () => {
  const { handle, stopped } = waiting();
  await using world = await openWorld({ handle });
  const contract = { ...world.contract, timeoutMs: 40 };
  assert.equal(wordsOf(await world.call({ claim_id: 'C-102' }, world.lease(), { contract })), 'cancelled deadline');
  await stopped;
});

test('a call with a side effect that is stopped after it was sent has an unknown outcome', async () => {
  const { handle, begun } = waiting();
  await using world = await openWorld({ handle });
  const controller = new AbortController();
  const lease = world.lease({ actions: ['claims:note'] });
  const calling = world.call({ claim_id: 'C-102' }, lease, { contract: noteClaim.contract, signal: controller.signal });
  await begun;
  controller.abort();
  assert.equal(wordsOf(await calling), 'unknown_outcome');
});

test('a call whose signal is already aborted is not sent', async () => {
  await using world = await openWorld();
  const lease = world.lease({ actions: ['claims:note'] });
  const options = { contract: noteClaim.contract, signal: AbortSignal.abort() };
  assert.equal(wordsOf(await world.call({ claim_id: 'C-102' }, lease, options)), 'cancelled aborted');
  assert.equal(world.entered(), 0);
});

test('a server that dies in mid-call leaves an unknown outcome, and the same host calls it again when it is back', async () => {
  const { handle, begun } = waiting();
  await using world = await openWorld({ handle });
  const calling = world.call({ claim_id: 'C-102' });
  await begun;
  await world.close();
  assert.equal(wordsOf(await calling), 'unknown_outcome');
  assert.equal(wordsOf(await world.call({ claim_id: 'C-102' })), 'unknown_outcome');
  await using back = await openWorld({ handle: answerClaim, port: Number(new URL(world.url).port) });
  assert.equal(wordsOf(await world.call({ claim_id: 'C-102' }, back.lease())), 'ok');
});

test('a server that serves the pinned contracts is verified; one that widened a schema is found and not called again', async () => {
  await using world = await openWorld();
  const control = { use: 'control', actions: ['tool:discover'] } as const;
  const contracts = [world.contract, noteClaim.contract];
  await world.host.verify(contracts, world.lease(control), new AbortController().signal);

  await using drifted = await openWorld({
    tools: ([read, note]) =>
      read && note
        ? [
            {
              ...read,
              contract: { ...read.contract, output: { ...read.contract.output, schema: { type: 'object' } } },
            },
            note,
          ]
        : [],
  });
  await assert.rejects(drifted.host.verify(contracts, drifted.lease(control), new AbortController().signal), {
    code: 'ERR_TOOL_CONTRACT_DRIFT',
    message: /claims\.read.*output: expected sha256:/,
  });
  assert.equal(wordsOf(await drifted.call({ claim_id: 'C-102' })), 'contract_violation ERR_TOOL_CONTRACT_DRIFT');
  assert.equal(drifted.entered(), 0);
});

test('a server that says another contract, or does not list a tool, has drifted', async () => {
  const control = { use: 'control', actions: ['tool:discover'] } as const;
  const never = new AbortController().signal;
  await using other = await openWorld({
    tools: (tools) => tools.map((tool) => ({ ...tool, contract: { ...tool.contract, digest: digestOf('other') } })),
  });
  await assert.rejects(other.host.verify([other.contract], other.lease(control), never), {
    message: /contract: expected/,
  });
  await using missing = await openWorld({ tools: ([, note]) => (note ? [note] : []) });
  await assert.rejects(missing.host.verify([missing.contract], missing.lease(control), never), {
    message: /not listed/,
  });
});

test('verification under a work lease, or of a server that is down, says which it was', async () => {
  await using world = await openWorld();
  const never = new AbortController().signal;
  await assert.rejects(world.host.verify([world.contract], world.lease(), never), {
    code: 'ERR_LEASE',
    detail: { code: 'lease_kind' },
  });
  const control = world.lease({ use: 'control', actions: ['tool:discover'] });
  await world.close();
  await assert.rejects(world.host.verify([world.contract], control, never), { code: 'ERR_SERVER_UNREACHABLE' });
});

test('a server name that is not configured is a configuration error', async () => {
  await using world = await openWorld();
  assert.equal(world.host.audience('claims-records'), world.url);
  assert.throws(() => world.host.audience('elsewhere'), { code: 'ERR_CONFIG' });
});
