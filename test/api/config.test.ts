/** The configuration: found, checked, refused in production by the name of each setting, and used. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  checkConfig,
  createCaseOps,
  defineCase,
  environmentSecrets,
  loadConfig,
  type CaseOpsConfigInput,
  type CaseOpsOptions,
} from 'caseops';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { parcelsCase, parcelTeam } from './parcels.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
const noTeams = defineCase({ ...parcelsCase, teams: {} });

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-config-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return directory;
}

function command(directory: string, ...args: readonly string[]) {
  const done = spawnSync(process.execPath, ['--conditions=@caseops/source', MAIN, ...args], {
    cwd: directory,
    env: { ...process.env, CASEOPS_HOME: undefined, NO_COLOR: '1', NODE_TEST_CONTEXT: undefined },
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

test('each fault is a sentence that says what was expected, what came and where, and never shows a text', () => {
  const checked = checkConfig(
    { port: 'http', profile: 'staging', keys: { issuer: 'BEGIN PRIVATE KEY' }, kase: './case.ts', quotas: { runs: 1 } },
    '/srv/caseops.config.json',
  );
  assert.ok(!checked.ok);
  assert.deepEqual(
    checked.findings.map(({ pointer }) => pointer).toSorted(),
    ['/kase', '/keys/issuer', '/port', '/profile', '/quotas/runs'].toSorted(),
  );
  for (const { pointer, message } of checked.findings) {
    assert.match(message, /^Expected .+ at \/\S+ in \/srv\/caseops\.config\.json, got .+\.$/);
    assert.ok(message.includes(` at ${pointer} in `));
    assert.doesNotMatch(message, /BEGIN/);
  }
});

test('the nearest configuration from the working directory up is read, as JSON or as a module, paths from where it stands', async (t) => {
  const root = directoryFor(t);
  const inner = join(root, 'a/b');
  mkdirSync(inner, { recursive: true });
  assert.equal(await loadConfig({ from: inner }), undefined);
  writeFileSync(join(root, 'caseops.config.json'), JSON.stringify({ directory: 'data', port: 4_000 }));
  const outer = await loadConfig({ from: inner });
  assert.deepEqual([outer?.config.directory, outer?.config.port], [join(root, 'data'), 4_000]);
  writeFileSync(join(root, 'a/caseops.config.ts'), 'export const config: { port: number } = { port: 4_001 };\n');
  assert.equal((await loadConfig({ from: inner }))?.config.port, 4_001);
  writeFileSync(join(inner, 'caseops.config.mjs'), "export default { port: 'x' };\n");
  await assert.rejects(loadConfig({ from: inner }), { code: 'ERR_CONFIG', message: /at \/port in .*mjs/ });
  writeFileSync(join(inner, 'caseops.config.json'), '{}');
  await assert.rejects(loadConfig({ from: inner }), { code: 'ERR_CONFIG', message: /one configuration/ });
  writeFileSync(join(root, 'caseops.config.json'), '{"port": 1, "port": 2}');
  await assert.rejects(loadConfig({ from: root }), { code: 'ERR_JSON_DUPLICATE_NAME' });
});

const users = {
  issuer: 'https://login.example',
  audience: 'caseops',
  tenants: ['t9'],
  roles: { clerk: { roles: ['requester' as const], purposes: ['parcel_inquiry'], actions: ['parcels:read'] } },
};

test('the production profile refuses each convenience by its setting, before anything is written', async (t) => {
  const directory = join(directoryFor(t), 'data');
  const refusals = async (config: CaseOpsConfigInput, over: CaseOpsOptions = {}): Promise<readonly string[]> => {
    try {
      const started = await createCaseOps({ case: parcelsCase, directory, config, ...over });
      await started[Symbol.asyncDispose]();
      return [];
    } catch (error) {
      const { detail } = error as { detail: { findings?: readonly { pointer: string; message: string }[] } };
      assert.ok(detail.findings, String(error));
      for (const { message } of detail.findings) assert.match(message, /\(profile production\)/);
      return detail.findings.map(({ pointer }) => pointer);
    }
  };
  assert.deepEqual(await refusals({ profile: 'production', store: { kind: 'memory' } }), [
    '/users',
    '/secrets',
    '/keys/issuer',
    '/keys/supervisor',
    '/keys/teams/parcels',
    '/store/kind',
  ]);
  const everyone = { roles: ['requester' as const], purposes: ['*'], actions: ['*'] };
  assert.deepEqual(
    await refusals({
      profile: 'production',
      secrets: { from: 'environment' },
      keys: { issuer: 'issuer-key', supervisor: 'supervisor-key', teams: { parcels: 'parcels-key' } },
      users: { ...users, issuer: 'http://login.example', tenants: ['*'], roles: { clerk: everyone } },
    }),
    ['/users/issuer', '/users/tenants/0', '/users/roles/clerk/purposes/0', '/users/roles/clerk/actions/0'],
  );
  assert.throws(() => rmSync(directory), { code: 'ENOENT' });
});

const key = () => {
  const {
    x = '',
    y = '',
    d = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  });
  return JSON.stringify({ kty: 'EC', crv: 'P-256', x, y, d });
};

test('in production keys come from secrets and people from their issuer: a clerk asks, a stranger does not', async (t) => {
  for (const name of ['ISSUER_KEY', 'SUPERVISOR_KEY', 'PARCELS_KEY']) process.env[`PARCELS_TEST_${name}`] = key();
  const pair = await generateKeyPair('ES256');
  const { kty = '', crv = '', x = '', y = '' } = await exportJWK(pair.publicKey);
  const jwk = { kty, crv, x, y, kid: 'k1' };
  const token = (roles: readonly string[]) =>
    new SignJWT({ tenant: 't9', roles })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(users.issuer)
      .setAudience('caseops')
      .setSubject('kim@example.com')
      .setExpirationTime('5m')
      .sign(pair.privateKey);
  await using caseops = await createCaseOps({
    case: parcelsCase,
    directory: directoryFor(t),
    secrets: environmentSecrets({ prefix: 'PARCELS_TEST_' }),
    config: {
      profile: 'production',
      secrets: { from: 'environment', prefix: 'PARCELS_TEST_' },
      keys: { issuer: 'issuer-key', supervisor: 'supervisor-key', teams: { parcels: 'parcels-key' } },
      users: { ...users, jwks: { keys: [jwk] } },
    },
  });
  assert.deepEqual(caseops.tokens, {});
  const run = await caseops.ask({ text: 'Where is P-7?', token: await token(['clerk']) });
  assert.equal(run.result, 'completed', run.reason ?? '');
  assert.deepEqual([run.requestedBy, run.claims[0]?.text], ['kim@example.com', 'Parcel P-7 is at_customs.']);
  const asStranger = caseops.ask({ text: 'Where is P-7?', token: await token(['visitor']) });
  await assert.rejects(asStranger, { code: 'ERR_UNAUTHENTICATED' });
  await assert.rejects(caseops.ask({ text: 'Where is P-7?' }), { code: 'ERR_UNAUTHENTICATED' });
  const over = await fetch(`${caseops.url}/api/v1/whoami`, {
    headers: { authorization: `Bearer ${await token(['clerk'])}` },
  });
  assert.equal(over.status, 200);
  const none = await fetch(`${caseops.url}/api/v1/whoami`, { headers: { authorization: 'Bearer x.y.z' } });
  assert.equal(none.status, 401);
});

test('a secret that is missing or is no key stops the start with its name and without its text', async (t) => {
  process.env['PARCELS_TEST_WRONG_KEY'] = 'not a key at all';
  const start = (issuer: string) =>
    createCaseOps({
      case: noTeams,
      inProcessTeams: [parcelTeam],
      directory: directoryFor(t),
      config: { secrets: { from: 'environment', prefix: 'PARCELS_TEST_' }, keys: { issuer } },
    });
  await assert.rejects(start('absent-key'), { code: 'ERR_CONFIG', message: /absent-key/ });
  await assert.rejects(start('wrong-key'), (error: Error) => {
    assert.match(error.message, /wrong-key/);
    assert.doesNotMatch(`${error.stack}${JSON.stringify(error)}`, /not a key at all/);
    return true;
  });
});

test('quotas and the in-memory store of a configuration are used, and a follow-up question is about what the last one was', async (t) => {
  await using caseops = await createCaseOps({
    case: noTeams,
    inProcessTeams: [parcelTeam],
    directory: directoryFor(t),
    config: {
      store: { kind: 'memory' },
      quotas: { goalsPerMinuteMax: 5, toolServers: { 'parcel-records': { callsInFlightMax: 1 } } },
    },
  });
  const first = await caseops.ask({ text: 'Where is P-7?' });
  const sessionId = first.sessionId ?? '';
  const followed = await caseops.ask({ text: 'And where is it now?', sessionId });
  assert.equal(followed.claims[0]?.text, 'Parcel P-7 is at_customs.');
  assert.equal(followed.sessionId, sessionId);
  const named = await caseops.ask({ text: 'And where is P-8?', sessionId });
  assert.equal(named.claims[0]?.text, 'Parcel P-8 is at_customs.');
  assert.equal((await caseops.ask({ text: 'Where is it now?' })).blocked?.wants, 'parcel_id');
  const foreign = await caseops.submit({ text: 'Where is it now?', sessionId, as: 'requester@t8' });
  assert.equal(foreign.blocked?.wants, 'parcel_id');
  const last = await caseops.ask({ text: 'And where is it?', sessionId });
  assert.equal(last.claims[0]?.text, 'Parcel P-8 is at_customs.');
  await assert.rejects(caseops.ask({ text: 'Where is P-7?' }), { code: 'ERR_RATE_LIMITED' });
});

test('doctor lists every finding of the configuration and ends with 1; login chooses who commands act as', (t) => {
  const directory = directoryFor(t);
  const sound = command(directory, 'doctor', '-o', 'json');
  assert.equal(sound.code, 0, sound.stdout + sound.stderr);
  writeFileSync(
    join(directory, 'caseops.config.json'),
    JSON.stringify({ profile: 'production', case: './absent.ts', keys: { issuer: 'issuer-key' } }),
  );
  const done = command(directory, 'doctor', '-o', 'json');
  assert.equal(done.code, 1, done.stderr);
  const { failures } = JSON.parse(done.stdout) as { failures: { id: string; expected: string }[] };
  assert.deepEqual(failures.map(({ id }) => id).toSorted(), [
    'configuration /case',
    'configuration /keys/issuer',
    'configuration /keys/supervisor',
    'configuration /secrets',
    'configuration /users',
  ]);
  writeFileSync(join(directory, 'caseops.config.json'), JSON.stringify({ directory: 'elsewhere' }));
  const who = (...args: readonly string[]) =>
    (JSON.parse(command(directory, 'whoami', '-o', 'json', ...args).stdout) as { account: string }).account;
  assert.equal(who(), 'requester');
  assert.equal(command(directory, 'login', 'auditor@t9').code, 0);
  assert.equal(who(), 'auditor@t9');
  assert.equal(who('--as', 'requester@t8'), 'requester@t8');
  assert.equal(command(directory, 'login', 'nobody@t9').code, 2);
});
