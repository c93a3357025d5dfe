import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createJsonLog } from './json-log.ts';
import { redact, redactText } from './redaction.ts';

const TOKEN = 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJyZXF1ZXN0ZXJAdDkifQ.c2lnbmF0dXJlLWJ5dGVz';
const PEM = '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----';
const clock = {
  now: () => '2026-07-23T09:00:00.000Z',
  nowMs: () => 0,
  at: () => () => undefined,
  sleep: async () => undefined,
};

function logged(attributes: Readonly<Record<string, unknown>>, message = 'said'): string {
  const lines: string[] = [];
  const log = createJsonLog({ clock, service: 's', level: 'debug', write: (line) => lines.push(line) });
  log('info', message, attributes);
  return lines.join('');
}

test('a secret that was planted under a name of its own does not reach the log', () => {
  const planted = {
    token: 'planted-1',
    accessToken: 'planted-2',
    Authorization: 'planted-3',
    proof: 'planted-4',
    dpop: 'planted-5',
    cookie: 'planted-6',
    'set-cookie': 'planted-7',
    privateKey: 'planted-8',
    apiKey: 'planted-9',
    'api-key': 'planted-a',
    client_secret: 'planted-b',
    client_assertion: 'planted-c',
    password: 'planted-d',
    key: 'planted-e',
    jwk: { d: 'planted-f' },
    headers: { authorization: 'planted-g', nested: [{ signature: 'planted-h' }] },
    otlpHeaders: { 'x-api-key': 'planted-i' },
  };
  const line = logged(planted);
  assert.doesNotMatch(line, /planted/);
  assert.match(line, /"token":"\[redacted\]"/);
});

test('a secret that was planted inside a text does not reach the log, wherever it stands', () => {
  const texts = [
    TOKEN,
    `lease ${TOKEN} was refused`,
    `authorization: DPoP ${TOKEN}`,
    'Bearer abcdef0123456789',
    'Basic dXNlcjpwYXNz',
    `before ${PEM} after`,
    'https://host/runs?key=planted-query&x=1',
    'ghp_0123456789abcdef0123456789abcdef0123',
  ];
  for (const text of texts) {
    const line = logged({ note: text, list: [text], cause: new Error(text) }, text);
    for (const secret of [TOKEN, 'abcdef0123456789', 'dXNlcjpwYXNz', 'MIGHAgEAMBM', 'planted-query', 'ghp_0123'])
      assert.ok(!line.includes(secret), `${secret} in ${line}`);
  }
  assert.equal(redactText('https://host/runs?key=planted&x=1'), 'https://host/runs?key=[redacted]&x=1');
});

test('what an operator needs stays: ids, codes, counts, times', () => {
  const kept = {
    runId: 'run_1',
    stepId: 's2',
    code: 'ERR_LEASE',
    boundary: 'mcp',
    leaseId: 'lse_1',
    modelTokenCount: 12,
    sessionId: 'ses_1',
    at: '2026-07-23T09:00:00Z',
    retryable: false,
  };
  assert.deepEqual(redact(kept), kept);
});

test('free text is cut, with its length told, and a secret at the cut does not survive in part', () => {
  const long = 'x'.repeat(300);
  assert.equal(redactText(long), `${'x'.repeat(256)}… (300 characters)`);
  const atCut = `${'x'.repeat(250)} ${TOKEN}`;
  assert.doesNotMatch(redactText(atCut), /eyJ/);
});

test('depth and number of entries are bounded', () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 20; level++) deep = { deep };
  assert.doesNotMatch(logged({ deep }), /bottom/);
  assert.ok(logged({ list: Array.from({ length: 10_000 }, (_, index) => index) }).length < 500);
});

test('an attribute cannot take the place of time, level, service or message', () => {
  const line = JSON.parse(logged({ time: 't', level: 'l', service: 'x', message: 'm' })) as Record<string, unknown>;
  assert.deepEqual(line, { time: '2026-07-23T09:00:00.000Z', level: 'info', service: 's', message: 'said' });
});

test('any value makes one line of JSON', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withNullPrototype: true })),
      (attributes) => {
        const line = logged(attributes, 'said');
        assert.equal(line.split('\n').length, 2);
        JSON.parse(line);
      },
    ),
  );
});

test('below the level nothing is written, and without one nothing at all', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  createJsonLog({ clock, service: 's', level: 'warn', write })('info', 'said');
  createJsonLog({ clock, service: 's', level: undefined, write })('error', 'said');
  assert.deepEqual(lines, []);
});
