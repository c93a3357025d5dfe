import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { environmentSecrets, fileSecrets } from './secrets.ts';

const VALUE = 'a value that must not be seen';

test('a secret is read from its variable, and an empty variable is none', async () => {
  process.env['TRY_ISSUER_KEY'] = VALUE;
  process.env['TRY_EMPTY'] = '';
  const secrets = environmentSecrets({ prefix: 'TRY_' });
  assert.equal((await secrets.read('issuer-key'))?.reveal(), VALUE);
  assert.equal(await secrets.read('empty'), undefined);
  assert.equal(await secrets.read('absent'), undefined);
});

test('a secret is read from its file without the last line break, and a name is never a path', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-secrets-'));
  writeFileSync(join(directory, 'issuer-key'), `${VALUE}\n`);
  const secrets = fileSecrets({ directory });
  assert.equal((await secrets.read('issuer-key'))?.reveal(), VALUE);
  assert.equal(await secrets.read('absent'), undefined);
  for (const name of ['../issuer-key', '/etc/passwd', 'A', '', 'x/y'])
    await assert.rejects(secrets.read(name), { code: 'ERR_CONFIG' });
  rmSync(directory, { recursive: true });
});

test('a secret shows only its name when it is printed, logged, written as JSON or spread', async () => {
  process.env['TRY_ISSUER_KEY'] = VALUE;
  const secret = await environmentSecrets({ prefix: 'TRY_' }).read('issuer-key');
  const seen = [inspect(secret), inspect({ deep: { secret } }), JSON.stringify({ secret }), String(secret)];
  for (const text of [...seen, JSON.stringify({ ...secret })]) {
    assert.ok(!text.includes(VALUE), text);
    assert.match(text, /issuer-key/);
  }
});
