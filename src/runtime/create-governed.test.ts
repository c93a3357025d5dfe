import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { verifyChain } from '#kernel/chain.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { seededClock, type SeededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import { z } from 'zod';
import { createGoverned } from './create-governed.ts';
import type { Governed, GovernedOptions, GovernedToolOptions } from './governed/governed-options.ts';

const C102 = { id: 'C-102', version: 'v17', tenant: 't9', status: 'pending' };
const DESCRIBED: GovernedToolOptions = {
  name: 'get-claim',
  actions: ['claims:read'],
  resource: { type: 'claim', argument: 'claim_id' },
  evidence: { source: 'claims-db', anchorType: 'claim' },
};

interface Options {
  readonly abortSignal?: AbortSignal;
}

function toolOf(execute: (input: object, options: Options) => unknown) {
  return {
    description: 'Reads a claim.',
    inputSchema: z.object({ claim_id: z.string() }),
    execute: async (input: object, options: Options = {}): Promise<unknown> => execute(input, options),
  };
}

function open(over: Partial<GovernedOptions> = {}): { governed: Governed; clock: SeededClock } {
  const clock = seededClock(Date.parse('2026-07-22T15:00:00.000Z'));
  const governed = createGoverned({
    grant: { as: 'requester@t9', actions: ['claims:read'] },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 10 },
    clock,
    ids: seededIds('governed'),
    ...over,
  });
  return { governed, clock };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const [end] = await Promise.allSettled([call]);
  if (end?.status === 'fulfilled') return 'passed';
  assert.ok(end?.reason instanceof CaseOpsError, String(end?.reason));
  return end.reason.code;
}

/** What one call of a tool that returns `output` ends with. */
async function outcome(output: unknown, evidence: Partial<GovernedToolOptions['evidence']> = {}): Promise<string> {
  const { governed } = open();
  const described = { ...DESCRIBED, evidence: { ...DESCRIBED.evidence, ...evidence } };
  const claim = governed.tool(
    toolOf(() => output),
    described,
  );
  const code = await codeOf(claim.execute({ claim_id: 'C-102' }));
  const refs = governed.evidence().map(({ ref }) => ref);
  await governed.close();
  return code === 'passed' ? refs.join(' ') : code;
}

test('each flaw of what a tool returns is refused under its own code', async () => {
  assert.equal(await outcome(C102), 'claim:C-102@v17');
  assert.equal(await outcome({ ...C102, version: undefined }), 'ERR_TOOL_OUTPUT_VERSION');
  assert.equal(await outcome({ ...C102, tenant: undefined }), 'ERR_TOOL_OUTPUT_TENANT');
  assert.equal(await outcome({ ...C102, tenant: 't8' }), 'ERR_TOOL_OUTPUT_TENANT');
  assert.equal(await outcome({ ...C102, id: 'C-103' }), 'ERR_TOOL_OUTPUT_RESOURCE');
  assert.equal(await outcome({ ...C102, id: undefined }), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.equal(await outcome('no claim'), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.equal(await outcome(17), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.equal(await outcome({ big: 1n }), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.equal(await outcome({ ...C102, note: 'x'.repeat(1_000_001) }), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.equal(await outcome({ found: [] }, { recordsPointer: '/records' }), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.equal(await outcome([C102, { ...C102, tenant: 't8' }]), 'ERR_TOOL_OUTPUT_TENANT');
  assert.equal(await outcome([C102, { ...C102, status: 'open' }]), 'ERR_TOOL_OUTPUT_VERSION');
});

test('a record is found where its description says, also in JSON text, and nothing found is no evidence', async () => {
  assert.equal(await outcome(JSON.stringify(C102)), 'claim:C-102@v17');
  assert.equal(await outcome(null), '');
  assert.equal(await outcome(undefined), '');
  assert.equal(await outcome({ records: [] }, { recordsPointer: '/records' }), '');
  const nested = { data: { key: 'C-102', rev: 17, org: 't9' } };
  const pointers = { recordsPointer: '/data', idPointer: '/key', versionPointer: '/rev', tenantPointer: '/org' };
  assert.equal(await outcome(nested, pointers), 'claim:C-102@17');
  assert.equal(await outcome({ id: 'C-102', version: 'v1' }, { soleTenant: 't9' }), 'claim:C-102@v1');
  assert.equal(await outcome({ id: 'C-102', version: 'v1' }, { soleTenant: 't8' }), 'ERR_TOOL_OUTPUT_TENANT');
  const at = { ...C102, seen: '2026-07-22T14:00:00Z' };
  assert.equal(await outcome(at, { observedAtPointer: '/seen' }), 'claim:C-102@v17');
  assert.equal(await outcome(C102, { observedAtPointer: '/seen' }), 'ERR_TOOL_OUTPUT_VERSION');
  assert.equal(await outcome(C102, { record: z.looseObject({ status: z.string() }) }), 'claim:C-102@v17');
  assert.equal(await outcome(C102, { record: z.looseObject({ status: z.number() }) }), 'ERR_TOOL_OUTPUT_SCHEMA');
  const slow = z.looseObject({}).refine(async () => true);
  assert.equal(await outcome(C102, { record: slow }), 'ERR_TOOL_OUTPUT_SCHEMA');
});

test('a tool that fails keeps its own error as the cause, and its text is not in the log', async () => {
  const { governed } = open();
  const broken = toolOf(() => {
    throw new Error('password hunter2');
  });
  const claim = governed.tool(broken, DESCRIBED);
  const [end] = await Promise.allSettled([claim.execute({ claim_id: 'C-102' })]);
  assert.ok(end?.status === 'rejected' && end.reason instanceof CaseOpsError);
  assert.equal(end.reason.code, 'ERR_TOOL_FAILED');
  assert.match(String(end.reason.cause), /hunter2/);
  await governed.close();
  assert.doesNotMatch(JSON.stringify(await governed.trace()), /hunter2/);
});

test('a tool that does not end is left at its deadline, by the signal of the framework, and by closing', async () => {
  const { governed, clock } = open();
  const signals: (AbortSignal | undefined)[] = [];
  const entered: (() => void)[] = [];
  const stuck = toolOf((_input, { abortSignal }) => {
    signals.push(abortSignal);
    entered.shift()?.();
    return new Promise(() => {});
  });
  const claim = governed.tool(stuck, { ...DESCRIBED, timeoutMs: 500 });
  const start = async (abortSignal?: AbortSignal): Promise<{ readonly end: Promise<string> }> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    entered.push(resolve);
    const end = codeOf(claim.execute({ claim_id: 'C-102' }, abortSignal === undefined ? {} : { abortSignal }));
    await promise;
    return { end };
  };
  const late = await start();
  await clock.advance(501);
  assert.equal(await late.end, 'ERR_DEADLINE');
  const caller = new AbortController();
  const stopped = await start(caller.signal);
  caller.abort();
  assert.equal(await stopped.end, 'ERR_CANCELLED');
  const open3 = await start();
  await governed.close();
  assert.equal(await open3.end, 'ERR_CANCELLED');
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [true, true, true],
  );
  const [ended] = (await governed.trace()).slice(-1);
  assert.ok(ended?.kind === 'run.ended');
  assert.deepEqual([ended.body.result, ended.body.needsHuman], ['completed', false]);
  assert.equal(clock.armedCount, 0);
});

test('in a directory the log stays: chain, lease rows, and the records by their digests', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-governed-'));
  try {
    const { governed, clock } = open({ directory });
    const claim = governed.tool(
      toolOf(() => C102),
      DESCRIBED,
    );
    await claim.execute({ claim_id: 'C-102' });
    await claim.execute({ claim_id: 'C-102' });
    const [item, ...more] = governed.evidence();
    assert.ok(item !== undefined);
    assert.deepEqual(more, [], 'one record version is one piece of evidence');
    await governed.close();
    await governed.close();
    await using store = openSqliteStore({ path: join(directory, 'governed.db'), clock });
    const ref = { tenant: 't9', runId: governed.runId };
    const events = await store.events(ref, 0, 100);
    assert.deepEqual(events, await governed.trace());
    assert.equal(verifyChain({ ref, seq: 0, hash: '' }, events).ok, true);
    assert.equal((await store.leasesOfRun('t9', governed.runId)).length, 2);
    const bytes = await store.artifact('t9', item.digest);
    assert.ok(bytes !== undefined);
    assert.equal(digestOfBytes(bytes), item.digest);
    const head = await store.head(ref);
    assert.deepEqual([head?.kind, head?.subject, head?.result], ['governed-calls', 'claim_investigation', 'completed']);
    assert.deepEqual(await store.jobs(ref), []);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a name means one tool in a session', async () => {
  const { governed } = open();
  const first = governed.tool(
    toolOf(() => C102),
    DESCRIBED,
  );
  const second = governed.tool(
    toolOf(() => C102),
    { ...DESCRIBED, timeoutMs: 5 },
  );
  assert.equal(await codeOf(first.execute({ claim_id: 'C-102' })), 'passed');
  assert.equal(await codeOf(second.execute({ claim_id: 'C-102' })), 'ERR_STATE');
  await governed.close();
});

test("a store of the program's own stays open, and a session that made no call is a run that completed", async () => {
  const clock = seededClock(0);
  await using store = openSqliteStore({ path: ':memory:', clock });
  const { governed } = open({ store, clock });
  await governed.close();
  assert.equal((await store.head({ tenant: 't9', runId: governed.runId }))?.result, 'completed');
});

test('options and descriptions that are not well formed are refused at once', async () => {
  const grant = { sub: 'ann', tenant: 't9', purposes: [], actions: [], may_act: { sub: 'x' }, roles: [] };
  for (const over of [
    { purpose: 'Not A Name' },
    { budget: { toolCallCountMax: -1 } },
    { prohibitedActions: ['send'] },
    { grant },
    { grant: { ...grant, tenant: 'T 9' } },
    { grant: { as: 'approver@t9', actions: ['claims:read'] } },
  ] satisfies Partial<GovernedOptions>[])
    assert.throws(() => open(over), { code: 'ERR_CONFIG' });
  assert.throws(() => open({ grant: { as: 'nobody@t9', actions: [] } }), { code: 'ERR_UNAUTHENTICATED' });
  const { governed } = open();
  const good = toolOf(() => C102);
  const { evidence } = DESCRIBED;
  for (const over of [
    { name: 'Get Claim' },
    { actions: [] },
    { actions: ['read'] },
    { timeoutMs: 300_001 },
    { resource: { type: 'claim', argument: '' } },
    { evidence: { ...evidence, idPointer: 'id' } },
    { evidence: { ...evidence, soleTenant: 't9', tenantPointer: '/tenant' } },
  ] satisfies Partial<GovernedToolOptions>[])
    assert.throws(() => governed.tool(good, { ...DESCRIBED, ...over }), { code: 'ERR_CONFIG' });
  for (const strange of [
    {},
    { execute: () => 1 },
    { inputSchema: z.object({}) },
    { ...good, inputSchema: 'no schema' },
  ])
    assert.throws(() => governed.tool(strange, DESCRIBED), { code: 'ERR_CONFIG' });
  await governed.close();
});
