import type { ApplyRequest } from '#ports/effect-target.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { actionOf, requestOf } from '../suite-target-action.ts';
import type { TargetSubject } from '../suite-target-subject.ts';
import { targetSuite } from '../target-suite.ts';
import { createFlagFileTarget } from './flag-file-target.ts';
import { evaluateFlag } from './flag-evaluation.ts';

const unending = new AbortController().signal;
const TENANT = 'tenant-7';

interface FlagSubject extends TargetSubject {
  readonly path: string;
  text(): string;
}

/** What an operator would have written by hand, with a flag that is none of ours. */
const initial = (version: string, on: number): string =>
  JSON.stringify({
    $schema: 'https://flagd.dev/schema/v0/flags.json',
    flags: {
      'reranker-v17': {
        state: 'ENABLED',
        variants: { on: true, off: false },
        defaultVariant: 'off',
        targeting: {
          fractional: [
            ['on', on],
            ['off', 100 - on],
          ],
        },
        metadata: { version, owner: 'search' },
      },
      banner: { state: 'ENABLED', variants: { hi: 'hi' }, defaultVariant: 'hi' },
    },
    metadata: { flagSetId: 'search' },
  });

async function flagSubject(): Promise<FlagSubject> {
  const directory = mkdtempSync(join(tmpdir(), 'flags-'));
  const path = join(directory, `${TENANT}.flagd.json`);
  writeFileSync(path, initial('v3', 5));
  const promotions = (): Readonly<Record<string, unknown>> =>
    (JSON.parse(readFileSync(path, 'utf8')) as { caseops?: { promotions: Record<string, unknown> } }).caseops
      ?.promotions ?? {};
  return {
    path,
    text: () => readFileSync(path, 'utf8'),
    target: createFlagFileTarget({ directory, clock: seededClock(Date.parse('2026-07-23T09:00:00.000Z')) }),
    tenant: TENANT,
    resource: 'release:reranker-v17',
    parameters: { release_id: 'reranker-v17', traffic_percent: 25 },
    otherParameters: { release_id: 'reranker-v17', traffic_percent: 50 },
    invalid: [
      {},
      { release_id: 'reranker-v17' },
      { release_id: 'reranker-v17', traffic_percent: 101 },
      { release_id: 'reranker-v17', traffic_percent: -1 },
      { release_id: 'reranker-v17', traffic_percent: 2.5 },
      { release_id: 'reranker-v17', traffic_percent: '25%' },
      { release_id: '../reranker', traffic_percent: 25 },
      { release_id: 'reranker-v17', traffic_percent: 25, release_version: 'latest' },
    ],
    shown: { name: 'note', value: 'Looks good on the canary.' },
    effectCount: async (key) => (Object.hasOwn(promotions(), key) ? 1 : 0),
    moveVersion: async () => writeFileSync(path, initial('v4', 10)),
    spoil: async () =>
      writeFileSync(
        path,
        readFileSync(path, 'utf8')
          .replace(/"on",\s*25/, '"on", 60')
          .replace(/"off",\s*75/, '"off", 40'),
      ),
    hide: async () => {
      rmSync(path);
      mkdirSync(path);
    },
    child: { script: new URL('./flag-file-child.ts', import.meta.url), args: [directory] },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

targetSuite('flag file', flagSubject);

test('an evaluator that reads the file sees the share change once, and the other flags as they were', async () => {
  await using subject = await flagSubject();
  const before = evaluateFlag(subject.text(), 'reranker-v17');
  const action = await actionOf(subject);
  assert.equal(action.idempotencyKey, 'promotion:tenant-7:reranker-v17:25:v3');
  await subject.target.apply(requestOf(action), unending);
  const once = subject.text();
  await subject.target.apply(requestOf({ ...action, runId: 'run_replay' }), unending);
  assert.equal(subject.text(), once, 'the replay wrote the file again');
  const after = evaluateFlag(once, 'reranker-v17');
  assert.ok(before !== undefined && after !== undefined);
  assert.deepEqual([before.version, after.version, after.reason], ['v3', 'v4', 'TARGETING_MATCH']);
  assert.ok(before.onCount < 160 && after.onCount > 400 && after.onCount < 600, `${before.onCount} → ${after.onCount}`);
  const written = JSON.parse(once) as { flags: Record<string, { metadata?: unknown }>; metadata: unknown };
  assert.deepEqual(written.metadata, { flagSetId: 'search' });
  assert.deepEqual(written.flags['banner'], { state: 'ENABLED', variants: { hi: 'hi' }, defaultVariant: 'hi' });
});

test('a request that names its version keeps its key and its first record after its own promotion moved the version', async () => {
  await using subject = await flagSubject();
  const parameters = { ...subject.parameters, release_version: '3' };
  const action = await actionOf(subject, { parameters });
  await subject.target.apply(requestOf(action), unending);
  const first = await subject.target.readBack(action.idempotencyKey, action, unending);
  const replay = await actionOf(subject, { parameters, run: 'replay' });
  assert.equal(replay.idempotencyKey, action.idempotencyKey);
  assert.equal((await subject.target.apply(requestOf(replay), unending)).outcome, 'applied');
  assert.deepEqual(await subject.target.readBack(replay.idempotencyKey, replay, unending), first);
  const changed = await actionOf(subject, { parameters: { ...parameters, traffic_percent: 50 } });
  assert.equal((await subject.target.apply(requestOf(changed), unending)).outcome, 'precondition_failed');
});

test('a flag that somebody edited under the same version is at another version', async () => {
  await using subject = await flagSubject();
  await subject.target.apply(requestOf(await actionOf(subject)), unending);
  const action = await actionOf(subject, { parameters: subject.otherParameters });
  assert.equal(action.expectedVersion, 'v4');
  await subject.spoil(action.idempotencyKey);
  const { version } = await subject.target.read(subject.resource, TENANT, unending);
  assert.match(version ?? '', /^v4-edited-[0-9a-f]{12}$/);
  assert.equal((await subject.target.apply(requestOf(action), unending)).outcome, 'precondition_failed');
});

test('a later promotion does not make the earlier one wrong', async () => {
  await using subject = await flagSubject();
  const first = await actionOf(subject);
  await subject.target.apply(requestOf(first), unending);
  await subject.target.apply(requestOf(await actionOf(subject, { parameters: subject.otherParameters })), unending);
  const effect = await subject.target.readBack(first.idempotencyKey, first, unending);
  assert.ok(effect.found === 'applied');
  assert.equal(effect.version, 'v4');
  assert.deepEqual(subject.target.postcondition(first, effect), []);
});

test('a release without a flag gets one at v1 when it must not exist yet', async () => {
  await using subject = await flagSubject();
  const fresh = {
    ...subject,
    resource: 'release:ranker-v1',
    parameters: { release_id: 'ranker-v1', traffic_percent: 1 },
  };
  const action = await actionOf(fresh);
  assert.equal(action.expectedVersion, null);
  await subject.target.apply(requestOf(action), unending);
  assert.equal((await subject.target.read('release:ranker-v1', TENANT, unending)).version, 'v1');
});

test('parameters for another release than the resource are refused', async () => {
  await using subject = await flagSubject();
  const action = { ...(await actionOf(subject)), resource: 'release:reranker-v18' };
  assert.equal((await subject.target.apply(requestOf(action), unending)).outcome, 'refused_before');
});

for (const [what, text] of [
  ['no JSON', '{'],
  ['no flag file', '{"flags": []}'],
  ['no flag of ours', '{"flags": {"reranker-v17": {"state": "ENABLED", "variants": {"a": 1}, "defaultVariant": "a"}}}'],
] as const) {
  test(`a file that is ${what} is refused and left as it is`, async () => {
    await using subject = await flagSubject();
    const request: ApplyRequest = requestOf(await actionOf(subject));
    writeFileSync(subject.path, text);
    const applied = await subject.target.apply(request, unending);
    assert.ok(applied.outcome === 'refused_before' && !applied.retryable);
    assert.equal(subject.text(), text);
    await assert.rejects(subject.target.read(subject.resource, TENANT, unending), { code: 'ERR_STORE' });
  });
}

test('a process killed while it replaces the file leaves the old content and no lock', async () => {
  await using subject = await flagSubject();
  const before = subject.text();
  const action = await actionOf(subject);
  const child = spawnSync(
    process.execPath,
    [
      ...process.execArgv,
      `--import=data:text/javascript,${encodeURIComponent(KILL_BEFORE_RENAME)}`,
      subject.child.script.pathname,
      ...subject.child.args,
      'say',
      JSON.stringify(action),
    ],
    { encoding: 'utf8' },
  );
  assert.equal(child.signal, 'SIGKILL', child.stderr);
  assert.equal(subject.text(), before);
  assert.ok(existsSync(`${subject.path}.tmp`), 'it was not killed where it should be');
  assert.deepEqual(await subject.target.readBack(action.idempotencyKey, action, unending), { found: 'absent' });
  assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
});

const KILL_BEFORE_RENAME = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.renameSync = () => process.kill(process.pid, 'SIGKILL');
  syncBuiltinESMExports();
`;

test('a disk that takes no file is said before anything changed', async () => {
  await using subject = await flagSubject();
  const request = requestOf(await actionOf(subject));
  mkdirSync(`${subject.path}.tmp`);
  const applied = await subject.target.apply(request, unending);
  assert.ok(applied.outcome === 'refused_before' && applied.retryable);
  assert.match(applied.message, /EISDIR/);
  assert.deepEqual(JSON.parse(subject.text()), JSON.parse(initial('v3', 5)));
});
