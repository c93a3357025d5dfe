import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { parseTraceparent } from '#kernel/span-identity.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { ATTRIBUTE_NAMES } from './attribute-names.ts';
import { createQuietTelemetry } from './none.ts';
import { createOtelTelemetry } from './otel.ts';

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OWN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** The spans that a receiver was sent while `use` ran. */
async function exported(use: (telemetry: Telemetry) => void): Promise<readonly Record<string, unknown>[]> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      bodies.push(text);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const telemetry = createOtelTelemetry({ endpoint, service: 's', version: '1', instanceId: 'i', processId: 1 });
  use(telemetry);
  await telemetry[Symbol.asyncDispose]();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return bodies.flatMap((body) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

test('a span continues the trace that it is given, and the next hop continues from it', async () => {
  const spans = await exported((telemetry) => {
    const outer = telemetry.startSpan('outer', { parent: CALLER, kind: 'server' });
    telemetry.startSpan('inner', { parent: outer.traceparent }).end();
    outer.end();
  });
  const [inner, outer] = spans;
  assert.equal(outer?.['traceId'], '4bf92f3577b34da6a3ce929d0e0e4736');
  assert.equal(outer['parentSpanId'], '00f067aa0ba902b7');
  assert.deepEqual([inner?.['traceId'], inner?.['parentSpanId']], [outer['traceId'], outer['spanId']]);
});

test('a hop that begins a new trace links to the one that it came from', async () => {
  const [span] = await exported((telemetry) => telemetry.startSpan('hop', { links: [CALLER, 'no trace'] }).end());
  assert.notEqual(span?.['traceId'], '4bf92f3577b34da6a3ce929d0e0e4736');
  const [link, ...more] = (span ?? {})['links'] as { traceId: string; spanId: string }[];
  assert.deepEqual([link?.traceId, link?.spanId], ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']);
  assert.deepEqual(more, []);
});

test('a span whose id is known beforehand has that id, and the next one an id of its own', async () => {
  const spans = await exported((telemetry) => {
    telemetry.startSpan('run', { own: OWN }).end();
    telemetry.startSpan('other', { own: OWN.replace('b7ad', 'c8be'), parent: OWN }).end();
    telemetry.startSpan('free').end();
  });
  assert.deepEqual(
    spans.slice(0, 2).map(({ traceId, spanId }) => [traceId, spanId]),
    [
      ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'],
      ['0af7651916cd43dd8448eb211c80319c', 'c8be6b7169203331'],
    ],
  );
  assert.notEqual(spans[2]?.['traceId'], '0af7651916cd43dd8448eb211c80319c');
});

test('attributes leave under the names of the table, errors as a code, and what is too long is cut', async () => {
  const [span] = await exported((telemetry) =>
    telemetry
      .startSpan('s', {
        attributes: { goalId: 'goal_1', planVersion: 2, evidenceIds: ['ev_1'], toolName: 'x'.repeat(999) },
      })
      .end({ error: 'ERR_DEADLINE' }),
  );
  const told = new Map(
    ((span ?? {})['attributes'] as { key: string; value: Record<string, unknown> }[]).map(({ key, value }) => [
      key,
      value,
    ]),
  );
  assert.deepEqual(told.get(ATTRIBUTE_NAMES.goalId), { stringValue: 'goal_1' });
  assert.deepEqual(told.get(ATTRIBUTE_NAMES.planVersion), { intValue: 2 });
  assert.equal(String(told.get('gen_ai.tool.name')?.['stringValue']).length, 256);
  assert.deepEqual(told.get('error.type'), { stringValue: 'ERR_DEADLINE' });
  assert.equal(((span ?? {})['status'] as { code: number }).code, 2);
});

test('a caller that asked not to be recorded is not, and the next hop is told so', async () => {
  let next: string | undefined;
  const spans = await exported((telemetry) => {
    const span = telemetry.startSpan('s', { parent: CALLER.replace(/01$/, '00') });
    next = span.traceparent;
    span.end();
  });
  assert.deepEqual(spans, []);
  assert.equal(parseTraceparent(next)?.sampled, false);
});

test('a receiver that does not answer holds nothing up', async () => {
  const endpoint = 'http://127.0.0.1:9';
  const telemetry = createOtelTelemetry({ endpoint, service: 's', version: '1', instanceId: 'i', processId: 1 });
  for (let index = 0; index < 20_000; index++) telemetry.startSpan('s').end();
  await telemetry[Symbol.asyncDispose]();
});

test('telemetry that exports nothing passes a readable trace on, and nothing else', () => {
  const quiet = createQuietTelemetry();
  assert.equal(quiet.startSpan('s', { parent: CALLER }).traceparent, CALLER);
  assert.equal(quiet.startSpan('s', { parent: 'injected\r\nheader: x' }).traceparent, undefined);
  assert.equal(quiet.startSpan('s').traceparent, undefined);
  quiet.log('warn', 'x');
  assert.match(quiet.metrics(), /caseops_log_lines_total\{level="warn"\} 1/);
});
