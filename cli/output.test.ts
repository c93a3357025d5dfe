import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from 'caseops';
import { runAndClaim } from './client.ts';
import { EXIT, exitOfError, exitOfRun } from './exit-codes.ts';
import { table, wrap } from './output.ts';

test('columns line up by what they take on screen, wide characters two columns', () => {
  assert.equal(
    table([
      ['a', 'b'],
      ['日本', 'c'],
    ]),
    'a     b\n日本  c',
  );
});

test('a sentence breaks at spaces, and Japanese text anywhere', () => {
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrap('請求の状態です', 6), ['請求の', '状態で', 'す']);
});

test('exit codes are pinned for every result', () => {
  const code = (result: Parameters<typeof exitOfRun>[0]['result'], needsHuman = false) =>
    exitOfRun({ state: 'ended', result, needsHuman });
  assert.deepEqual(
    [
      code('completed'),
      code('completed', true),
      code('failed'),
      code('partial'),
      code('degraded'),
      code('degraded', true),
      code('no_data'),
      code('refused'),
      code('cancelled'),
    ],
    [0, 9, 8, 8, 8, 8, 12, 5, 3],
  );
  assert.equal(exitOfRun({ state: 'blocked', result: null, needsHuman: false }), 9);
});

test('exit codes are pinned for errors', () => {
  const code = (name: ConstructorParameters<typeof CaseOpsError>[0]) =>
    exitOfError(new CaseOpsError(name, 'x', { at: 'test' }));
  assert.deepEqual(
    [
      code('ERR_UNAUTHENTICATED'),
      code('ERR_NOT_FOUND'),
      code('ERR_SERVER_UNREACHABLE'),
      code('ERR_USAGE'),
      code('ERR_DENIED'),
      code('ERR_IDEMPOTENCY_KEY_REUSED'),
      code('ERR_STORE'),
    ],
    [4, 6, 69, 2, 5, 7, 1],
  );
  assert.equal(exitOfError(new Error('x')), EXIT.error);
});

test('a reference names a run and maybe a claim', () => {
  assert.deepEqual(runAndClaim('run_1#status'), { runId: 'run_1', claim: 'status' });
  assert.deepEqual(runAndClaim('run_1'), { runId: 'run_1', claim: undefined });
});
