/**
 * Malformed input at each door: a typed error that names what was expected, what came and where; and nothing is recorded. The doors are real
 * servers behind real guards, or the functions that read a file or a text.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { loadConfig } from '#runtime/load-config.ts';
import { openInquiryService } from '../campaigns/inquiry-service.ts';
import type { Door } from '../campaigns/doors.ts';
import { openGoalTextDoor } from '../campaigns/http-doors.ts';
import { openA2aDoor, openConfigDoor, openMcpRequestDoor, openMcpResultDoor } from '../campaigns/wire-doors.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type Malformed = (valid: string) => Bytes;

const utf8 = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));
const withMember =
  (member: string): Malformed =>
  (valid) =>
    utf8(`{${member},${valid.slice(1)}`);

/** What is no lawful JSON, whatever the door: how it is made, and what is said about it. */
const TEXTS: Readonly<Record<string, { readonly make: Malformed; readonly code: string; readonly says: RegExp }>> = {
  'cut off': {
    make: (valid) => utf8(valid.slice(0, -1)),
    code: 'ERR_JSON_SYNTAX',
    says: /expected a comma or the end of the container at .+, offset \d+, got the end of the text\./,
  },
  'equal names': {
    make: withMember('"a":1,"a":2'),
    code: 'ERR_JSON_DUPLICATE_NAME',
    says: /expected each member name once at \/a, offset 7, got a second one\./,
  },
  NUL: {
    make: withMember(String.raw`"a":"b\u0000"`),
    code: 'ERR_JSON_UNICODE',
    says: /expected a string without NUL and unpaired surrogates at \/a, offset 5, got one with\./,
  },
  'a lone surrogate': {
    make: withMember(String.raw`"a":["\ud800"]`),
    code: 'ERR_JSON_UNICODE',
    says: /expected a string without NUL and unpaired surrogates at \/a\/0, offset 6, got one with\./,
  },
  'deep nesting': {
    make: withMember(`"a":${'['.repeat(10_000)}${']'.repeat(10_000)}`),
    code: 'ERR_JSON_DEPTH',
    says: /expected at most \d+ containers inside each other at \/a\/0.+, got one more\./,
  },
  'an integer that would be rounded': {
    make: withMember('"a":9007199254740993'),
    code: 'ERR_JSON_NUMBER',
    says: /expected an integer within .+ at \/a, offset 5, got one beyond\./,
  },
  'bytes that are no UTF-8': {
    make: () => new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    code: 'ERR_JSON_SYNTAX',
    says: /expected well-formed UTF-8 at the top, offset 0, got other bytes\./,
  },
};

interface Row {
  readonly what: string;
  /** Changes a valid message. */
  readonly edit: (message: Record<string, unknown>) => unknown;
  readonly code: string;
  readonly says: RegExp;
}

interface DoorTable {
  readonly open: () => Promise<Door> | Door;
  /** How this door calls a text that is no lawful JSON; left out: by our own code. */
  readonly textCode?: string;
  readonly rows: readonly Row[];
}

const huge = 'y'.repeat(1_100_000);
const inner = (value: unknown): Record<string, unknown> => value as Record<string, unknown>;

const DOORS: Readonly<Record<string, DoorTable>> = {
  'A2A over HTTP+JSON': {
    open: () => openA2aDoor('HTTP+JSON'),
    textCode: '400',
    rows: [
      { what: 'a list', edit: () => [], code: '400', says: /at the top: .*expected object, received array/ },
      { what: 'no message', edit: () => ({}), code: '400', says: /at \/message: .*received undefined/ },
      {
        what: 'a message of another kind',
        edit: () => ({ message: 17 }),
        code: '400',
        says: /message .*expected object, received number/,
      },
      {
        what: 'a setting of another kind',
        edit: (valid) => ({ ...valid, configuration: { returnImmediately: 'soon' } }),
        code: '400',
        says: /at \/configuration\/returnImmediately: .*expected boolean, received string/,
      },
      {
        what: 'too many bytes',
        edit: (valid) => ({ ...valid, huge }),
        code: '413',
        says: /at most \d+ bytes, got more/,
      },
    ],
  },
  'A2A over JSON-RPC': {
    open: () => openA2aDoor('JSONRPC'),
    textCode: '-32700',
    rows: [
      {
        what: 'a batch',
        edit: (valid) => [valid],
        code: '-32600',
        says: /at the top: .*expected object, received array/,
      },
      {
        what: 'another version',
        edit: (valid) => ({ ...valid, jsonrpc: '1.0' }),
        code: '-32600',
        says: /at \/jsonrpc: .*expected "2\.0"/,
      },
      {
        what: 'parameters without a message',
        edit: (valid) => ({ ...valid, params: {} }),
        code: '-32602',
        says: /at \/message: .*received undefined/,
      },
      {
        what: 'too many bytes',
        edit: (valid) => ({ ...valid, huge }),
        code: '-32600',
        says: /at most \d+ bytes, got more/,
      },
    ],
  },
  'MCP requests': {
    open: openMcpRequestDoor,
    rows: [
      { what: 'a list', edit: () => [], code: 'ERR_SCHEMA', says: /at the top: .*expected object, received array/ },
      {
        what: 'no method',
        edit: ({ method: _method, ...valid }) => valid,
        code: 'ERR_SCHEMA',
        says: /at \/method: .*expected string, received undefined/,
      },
      {
        what: 'parameters of another kind',
        edit: (valid) => ({ ...valid, params: [1] }),
        code: 'ERR_SCHEMA',
        says: /at \/params: .*expected record, received array/,
      },
      {
        what: 'too many bytes',
        edit: (valid) => ({ ...valid, huge }),
        code: 'ERR_JSON_SIZE',
        says: /at most \d+ bytes/,
      },
    ],
  },
  'results of MCP tools': {
    open: openMcpResultDoor,
    textCode: 'ERR_TOOL_OUTPUT_SCHEMA',
    rows: [
      {
        what: 'a list',
        edit: () => [],
        code: 'ERR_TOOL_OUTPUT_SCHEMA',
        says: /one JSON-RPC 2\.0 response .+ the answer is none/,
      },
      {
        what: 'an answer to another request',
        edit: (valid) => ({ ...valid, id: 'other' }),
        code: 'ERR_TOOL_OUTPUT_SCHEMA',
        says: /the response to request .+ at \/id, got other/,
      },
      {
        what: 'an output of another shape',
        edit: (valid) => ({ ...valid, result: { ...inner(valid['result']), structuredContent: { records: 'none' } } }),
        code: 'ERR_TOOL_OUTPUT_SCHEMA',
        says: /data\/records must be array/,
      },
    ],
  },
  'the configuration': {
    open: openConfigDoor,
    rows: [
      {
        what: 'a list',
        edit: () => [],
        code: 'ERR_CONFIG',
        says: /Expected object, received array at \/ .+ got a list of 0/,
      },
      {
        what: 'a port out of range',
        edit: (valid) => ({ ...valid, port: 99_999 }),
        code: 'ERR_CONFIG',
        says: /at \/port .+ got 99999/,
      },
      {
        what: 'a setting of several kinds',
        edit: (valid) => ({ ...valid, users: { ...inner(valid['users']), tenants: [17] } }),
        code: 'ERR_CONFIG',
        says: /Expected "\*" or string, received number at \/users\/tenants\/0 .+ got 17/,
      },
      {
        what: 'a setting that there is not',
        edit: (valid) => ({ ...valid, surprise: 1 }),
        code: 'ERR_CONFIG',
        says: /Expected no such setting at \/surprise/,
      },
    ],
  },
  'the text of a goal': {
    open: openGoalTextDoor,
    rows: [
      {
        what: '1 MB of text',
        edit: () => ({ text: 'Why is C-102 held? '.repeat(50_000) }),
        code: 'ERR_GOAL_TOO_LARGE',
        says: /at most 20000 characters; this one has 950000/,
      },
      {
        what: 'blank text',
        edit: () => ({ text: ' \n\t ' }),
        code: 'ERR_GOAL_TEXT',
        says: /needs words; the text is blank/,
      },
    ],
  },
};

for (const [name, { open, textCode, rows }] of Object.entries(DOORS))
  test(`${name}: malformed input is refused by name, and nothing is recorded`, async () => {
    await using door = await open();
    const offer = async (bytes: Bytes, wanted: { what: string; code: string; says: RegExp }): Promise<void> => {
      const { taken, code, said, broken } = await door.offer(bytes);
      assert.deepEqual([taken, broken, code], [false, false, wanted.code], `${wanted.what}: ${said}`);
      assert.match(said, wanted.says, wanted.what);
      assert.equal(door.recordedCount(), 0, wanted.what);
    };
    for (const [what, { make, code, says }] of Object.entries(TEXTS)) {
      const valid = JSON.stringify(await door.message());
      await offer(make(valid), { what, code: textCode ?? code, says });
    }
    for (const { what, edit, code, says } of rows)
      await offer(utf8(JSON.stringify(edit((await door.message()) as Record<string, unknown>))), { what, code, says });
    const valid = await door.offer(utf8(JSON.stringify(await door.message())));
    assert.equal(valid.taken, true, `the valid message is taken: ${valid.code} ${valid.said}`);
  });

test('HTTP bodies: malformed input is a problem document that says what and where, and nothing is recorded', async () => {
  const limits = { runsInFlightMax: 4, runsInFlightPerTenantMax: 4, queueLengthMax: 8, goalsPerMinuteMax: 600 };
  await using service = await openInquiryService({ limits, workMs: 1 });
  const valid = JSON.stringify({ text: 'Why is C-102 held?' });
  const cases: readonly (readonly [what: string, body: Bytes, status: number, code: string, says: RegExp])[] = [
    ...Object.entries(TEXTS).map(([what, { make, code, says }]) => [what, make(valid), 400, code, says] as const),
    ['a list', utf8('[]'), 422, 'ERR_SCHEMA', /expected object, received array/],
    ['another kind', utf8('{"text":17}'), 422, 'ERR_SCHEMA', /\/text: .*expected string, received number/],
    ['an unknown member', utf8('{"text":"a","more":1}'), 422, 'ERR_SCHEMA', /Unrecognized key: "more"/],
    ['1 MB of text', utf8(JSON.stringify({ text: huge })), 413, 'ERR_JSON_SIZE', /at most 1048576 bytes, got \d+/],
    [
      'a long text',
      utf8(JSON.stringify({ text: 'Why? '.repeat(100_000) })),
      413,
      'ERR_GOAL_TOO_LARGE',
      /at most 20000 characters; this one has 500000/,
    ],
    ['blank text', utf8('{"text":"  "}'), 400, 'ERR_GOAL_TEXT', /the text is blank/],
  ];
  for (const [what, body, status, code, says] of cases) {
    const headers = { authorization: 'Bearer t9', 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/api/v1/runs`, { method: 'POST', headers, body });
    assert.equal(response.headers.get('content-type'), 'application/problem+json', what);
    const problem = (await response.json()) as { code: string; status: number; detail: string };
    assert.deepEqual([response.status, problem.status, problem.code], [status, status, code], what);
    assert.match(problem.detail, says, what);
  }
  assert.deepEqual(await service.store.runs({ limit: 10 }), []);
  assert.deepEqual([service.admission.inFlightCount, service.admission.waitingCount], [0, 0]);
});

test('a configuration file that is no lawful JSON is refused with its name and the place', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caseops-config-'));
  const file = join(directory, 'caseops.config.json');
  try {
    for (const [what, { make, code, says }] of Object.entries(TEXTS)) {
      await writeFile(file, make('{"port":1}'));
      await assert.rejects(loadConfig({ file }), (error) => {
        assert.ok(error instanceof CaseOpsError, what);
        assert.equal(error.code, code, what);
        assert.match(error.message, says, what);
        return error.message.includes(file);
      });
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
