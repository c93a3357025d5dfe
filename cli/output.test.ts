import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { CaseOpsError } from 'caseops';
import { runAndClaim } from './client.ts';
import { EXIT, exitOfError, exitOfRun } from './exit-codes.ts';
import { table, visible, wrap } from './output.ts';

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

test('control characters of the data are shown and not obeyed; our own styles and line ends stay', () => {
  assert.equal(visible('\u001b[1mbold\u001b[22m\n\tnext'), '\u001b[1mbold\u001b[22m\n\tnext');
  assert.equal(
    visible('\u001b[2J\u001b[8m\r\u0007\u009b1m\u202e'),
    '\\u001b[2J\\u001b[8m\\u000d\\u0007\\u009b1m\\u202e',
  );
  assert.deepEqual(JSON.parse(visible(JSON.stringify({ text: '\u001b\u009b\u202e' }))), { text: '\u001b\u009b\u202e' });
});

test('a text that is no goal is a wrong use', () => {
  assert.equal(exitOfError(new CaseOpsError('ERR_GOAL_TEXT', 'It is blank.', { at: 'test' })), EXIT.usage);
});

test('a reader that stops reading changes neither the exit code nor what is said on stderr', async () => {
  const script = `
    import { print } from ${JSON.stringify(join(import.meta.dirname, 'output.ts'))};
    const line = 'x'.repeat(1000);
    for (let n = 0; n < 2000; n += 1) print(line);
    process.exitCode = 8;`;
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', script]);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  assert.deepEqual({ code: code as unknown, said }, { code: 8, said: '' });
});
