/** One trace of a C-102 run over five processes, read out of what an OTLP receiver was sent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { RunView } from 'caseops';
import { Home, type ServerProcess } from './command-line.ts';
import { receiveOtlp, type OtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts';

const QUESTION =
  'Find out why C-102 has not been completed and tell me what is missing. If the customer needs to be notified, generate a notification draft first; do not send it directly.';
const SECRET = 'otlp-receiver-credential-7f3a';
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

const opened = new AsyncDisposableStack();
let receiver: OtlpReceiver;
let home: Home;
let server: ServerProcess;
let run: RunView;
before(async () => {
  receiver = opened.use(await receiveOtlp());
  home = new Home({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-receiver-credential=${SECRET}`,
    CASEOPS_LOG_LEVEL: 'debug',
  });
  opened.defer(() => home[Symbol.dispose]());
  server = opened.use(await home.serve());
  const done = await home.start('ask', QUESTION, '-o', 'json').done;
  assert.equal(done.code, 0, done.stderr);
  run = JSON.parse(done.stdout) as RunView;
  assert.equal(run.result, 'completed');
  await until(() => isWhole(trace(run)));
});
after(async () => {
  await opened.disposeAsync();
});

const trace = (view: RunView): readonly ReceivedSpan[] =>
  receiver.spans().filter(({ traceId }) => traceId === view.trace.traceId);
/** Its last span has come, and no span waits for its parent. */
const isWhole = (spans: readonly ReceivedSpan[], outside: readonly string[] = []): boolean =>
  spans.some(({ name }) => name === 'run') && orphans(spans, outside).length === 0;
const orphans = (spans: readonly ReceivedSpan[], outside: readonly string[] = []): readonly ReceivedSpan[] => {
  const known = new Set([...spans.map(({ spanId }) => spanId), ...outside]);
  return spans.filter(({ parentSpanId }) => parentSpanId !== '' && !known.has(parentSpanId));
};
const tokens = (): Readonly<Record<string, string>> =>
  (JSON.parse(readFileSync(join(home.directory, 'server.json'), 'utf8')) as { tokens: Record<string, string> }).tokens;

test('one run is one trace over five processes, from the request to the tool, and every parent is in it', () => {
  const spans = trace(run);
  assert.deepEqual(orphans(spans), []);
  assert.equal(spans.filter(({ parentSpanId }) => parentSpanId === '').length, 1, 'more than one beginning');
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length, 'a span was told twice');
  const instances = new Set(spans.map(({ instance }) => instance));
  const processes = new Set(spans.map(({ processId }) => processId));
  assert.ok(instances.size >= 5 && processes.size >= 5, `${instances.size} instances, ${processes.size} processes`);
  for (const pid of server.pids.values()) assert.ok(processes.has(pid), `team process ${pid} told nothing`);
  const services = new Set(spans.map(({ service }) => service));
  for (const team of ['claims', 'knowledge', 'member', 'notification'])
    assert.ok(services.has(`caseops-team-${team}`), team);
  assert.ok(services.has('caseops-supervisor'));
  console.log(`${spans.length} spans of one trace, ${processes.size} processes, ${receiver.bodies.length} bodies`);
});

test('from a tool upwards the hops are: tool, MCP server, tool call, worker, team run, A2A, send, step, run, request', () => {
  const spans = trace(run);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const tool = spans.find(({ name }) => name.startsWith('execute_tool'));
  assert.ok(tool);
  const names: string[] = [];
  for (let span: ReceivedSpan | undefined = tool; span !== undefined; span = byId.get(span.parentSpanId))
    names.push(`${span.service.replace(/-team-\w+$/, '-team')} ${span.name.split(' ')[0]} ${span.kind}`);
  assert.deepEqual(names, [
    'caseops-team execute_tool 1',
    'caseops-team tools/call 2',
    'caseops-team tools/call 3',
    'caseops-team invoke_agent 1',
    'caseops-team team 1',
    'caseops-team a2a 2',
    'caseops-supervisor send 3',
    'caseops-supervisor step 1',
    'caseops-supervisor run 1',
    'caseops-supervisor POST 2',
  ]);
});

test('a step of the run leads to its span, and the span to its step', () => {
  const spans = trace(run);
  assert.ok(spans.some(({ spanId, name }) => spanId === run.trace.spanId && name === 'run'));
  for (const step of run.steps) {
    const [attempt] = step.attempts;
    const span = spans.find(({ spanId }) => spanId === attempt?.spanId);
    assert.ok(span, `no span of ${step.stepId}`);
    assert.equal(span.attributes['step.id'], step.stepId);
    assert.equal(span.attributes['caseops.run.id'], run.runId);
    assert.equal(span.attributes['task.id'], attempt?.taskId);
    assert.ok((span.attributes['evidence.id'] as readonly unknown[]).length > 0);
  }
});

test('the correlation keys are there', () => {
  const keys = new Set(trace(run).flatMap(({ attributes }) => Object.keys(attributes)));
  for (const key of [
    'goal.id',
    'request.id',
    'plan.id',
    'plan.version',
    'task.id',
    'step.id',
    'agent.id',
    'tool.name',
    'artifact.id',
    'evidence.id',
    'gen_ai.tool.name',
    'gen_ai.operation.name',
    'mcp.method.name',
  ])
    assert.ok(keys.has(key), key);
});

test('no token, proof, credential or sentence of the goal is in what was sent or logged', () => {
  // What `serve` prints for its person holds a link that signs in; log lines are JSON.
  const lines = server
    .text()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  assert.ok(
    lines.some((line) => line.includes(run.runId) && line.includes(run.trace.traceId)),
    'no line of the run',
  );
  const sent = [...receiver.bodies, ...lines].join('\n');
  assert.ok(sent.length > 10_000);
  for (const [account, token] of Object.entries(tokens())) assert.ok(!sent.includes(token), `token of ${account}`);
  for (const secret of [
    /eyJ[\w-]{8,}/,
    /DPoP\s+\S{8}/,
    /Bearer\s+\S{8}/,
    /PRIVATE KEY/,
    /accident_report/,
    /why C-102/,
  ])
    assert.doesNotMatch(sent, secret);
  assert.ok(!sent.includes(SECRET), 'the credential of the receiver');
  assert.ok(receiver.headers.every((headers) => headers['x-receiver-credential'] === SECRET));
  assert.ok(receiver.headers.every(({ path }) => path === '/v1/traces'));
});

test('a request that is in a trace is continued there, and a repeat of it is no second run', async () => {
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
  const token = Object.entries(tokens()).find(([account]) => account.startsWith('requester@t9'))?.[1] ?? '';
  const submit = async (): Promise<Response> =>
    fetch(`${server.url}/api/v1/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        prefer: 'wait=20',
        traceparent,
        'idempotency-key': 'trace-1',
        'x-request-id': 'ticket-42',
      },
      body: JSON.stringify({ text: QUESTION }),
    });
  const answer = await submit();
  assert.equal(answer.headers.get('x-request-id'), 'ticket-42');
  const view = (await answer.json()) as RunView;
  assert.equal(view.trace.traceId, CALLER.traceId);
  assert.equal(((await (await submit()).json()) as RunView).runId, view.runId);
  await until(() => isWhole(trace(view), [CALLER.spanId]));
  const spans = trace(view);
  assert.deepEqual(orphans(spans, [CALLER.spanId]), []);
  assert.ok(new Set(spans.map(({ processId }) => processId)).size >= 5);
  assert.ok(spans.some(({ attributes }) => attributes['request.id'] === 'ticket-42'));
});

test('/metrics tells runs, steps, tool calls and refusals by few words, and no id', async () => {
  const supervisor = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(supervisor, /^caseops_runs_total\{level="central",result="completed"\} \d+$/m);
  assert.match(supervisor, /^caseops_steps_total\{level="central",status="completed"\} \d+$/m);
  assert.match(supervisor, /^caseops_tool_calls_total\{outcome="ok"\} \d+$/m);
  assert.match(
    supervisor,
    /^caseops_run_duration_seconds_bucket\{level="central",result="completed",le="\+Inf"\} \d+$/m,
  );
  assert.doesNotMatch(supervisor, /run_[a-z0-9]{20}|C-102|"t9"/);
  const agents = JSON.parse(home.run('agents', 'ls', '-o', 'json').stdout) as { url: string }[];
  const team = new URL(agents[0]?.url ?? '').origin;
  assert.equal((await fetch(`${team}/rest/message:stream`, { method: 'POST', body: '{}' })).status, 401);
  assert.match(
    await (await fetch(`${team}/metrics`)).text(),
    /^caseops_refusals_total\{boundary="a2a",code="\w+"\} 1$/m,
  );
});

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const missing = orphans(trace(run)).map(({ service, name, parentSpanId }) => ({ service, name, parentSpanId }));
  throw new Error(`the trace was not whole in 10 s: ${JSON.stringify(missing)}`);
}
