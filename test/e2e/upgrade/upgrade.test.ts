/**
 * Upgrades in flight, with real processes: a run that waits for its approval under v1 is killed with its deployment, and another version
 * comes up on the same databases, the supervisor's and the team's. It finishes under v1, or moves by an explicit command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalRow, RunView, WhyView } from 'caseops';
import type { Version } from './parcels.ts';

interface Sent {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

class Deployment implements AsyncDisposable {
  readonly url: string;
  private readonly tokens: Readonly<Record<string, string>>;
  private readonly kill: () => Promise<void>;

  private constructor(
    ready: Pick<Deployment, 'url'> & { readonly tokens: Readonly<Record<string, string>> },
    kill: () => Promise<void>,
  ) {
    this.url = ready.url;
    this.tokens = ready.tokens;
    this.kill = kill;
  }

  static async of(directory: string, version: Version): Promise<Deployment> {
    const child = spawn(
      process.execPath,
      ['--conditions=@caseops/source', join(import.meta.dirname, 'deployment.ts'), directory, version],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(child, 'close');
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    while (!said.includes('\n')) {
      await Promise.race([once(child.stdout, 'data'), ended]);
      assert.equal(child.exitCode, null, `deployment ${version} ended: ${said}`);
    }
    return new Deployment(JSON.parse(said) as { url: string; tokens: Record<string, string> }, async () => {
      child.kill('SIGKILL');
      await ended;
    });
  }

  /** Once more while the lock of the process that was killed has not run out. */
  async call(as: string, path: string, sent?: Sent): Promise<{ readonly status: number; readonly body: unknown }> {
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(`${this.url}/api/v1${path}`, {
        method: sent === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${this.tokens[as] ?? ''}`,
          'content-type': 'application/json',
          prefer: 'wait=30',
          ...sent?.headers,
        },
        ...(sent === undefined ? {} : { body: JSON.stringify(sent.body) }),
      });
      const body: unknown = await response.json();
      const { code } = body as { readonly code?: string };
      if (code !== 'ERR_FENCE' || attempt >= 100) return { status: response.status, body };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async ask(text: string): Promise<RunView> {
    return (await this.call('requester@t9', '/runs', { body: { text } })).body as RunView;
  }

  async why(runId: string): Promise<readonly WhyView[]> {
    return (await this.call('requester@t9', `/runs/${runId}/why`)).body as WhyView[];
  }

  async run(runId: string): Promise<RunView> {
    return (await this.call('requester@t9', `/runs/${runId}`)).body as RunView;
  }

  /** Looked at until it has ended or is blocked by something else than `before`. */
  async settled(runId: string): Promise<RunView> {
    for (let look = 0; look < 300; look++) {
      const run = await this.run(runId);
      if (run.state === 'ended' || (run.state === 'blocked' && run.blocked?.code === 'CONTRACT')) return run;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`run ${runId} did not settle: ${JSON.stringify(await this.run(runId))}`);
  }

  async approve(row: ApprovalRow) {
    const headers = { 'if-match': `"${row.proposal.actionDigest}"` };
    return this.call('approver@t9', `/approvals/${row.approvalId}/decision`, {
      body: { disposition: 'approved' },
      headers,
    });
  }

  async pending(runId: string): Promise<ApprovalRow | undefined> {
    const { body } = await this.call('requester@t9', `/approvals?run=${runId}&state=pending`);
    return (body as ApprovalRow[])[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** Under v1 until it waits for its approval; then its process is killed. */
async function waitingUnderV1(directory: string): Promise<{ readonly waiting: RunView; readonly row: ApprovalRow }> {
  await using v1 = await Deployment.of(directory, 'v1');
  const waiting = await v1.ask('Release P-7.');
  assert.equal(waiting.blocked?.code, 'APPROVAL', JSON.stringify(waiting));
  const row = await v1.pending(waiting.runId);
  assert.ok(row !== undefined);
  return { waiting, row };
}

function folder(t: { after: (done: () => void) => void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-upgrade-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return directory;
}

const versionOf = (run: RunView, skillId: string): string | undefined =>
  run.steps.find((step) => step.skillId === skillId)?.skillVersion;

test('a run that waits for approval under v1 finishes under v1 after v2 is deployed; the next one is planned under v2', async (t) => {
  const directory = folder(t);
  const { waiting, row } = await waitingUnderV1(directory);
  await using v2 = await Deployment.of(directory, 'v2');
  assert.equal((await v2.approve(row)).status, 200);
  const run = await v2.settled(waiting.runId);
  assert.equal(run.result, 'completed', JSON.stringify(run));
  assert.deepEqual([versionOf(run, 'release-parcel'), versionOf(run, 'release-note')], ['1.0.0', '1.0.0']);
  assert.match(run.claims[0]?.text ?? '', /^The note says/, 'in the words of the goal as it was frozen');
  assert.deepEqual(run.migrations, []);
  assert.ok((await v2.why(run.runId)).every(({ holds }) => holds));
  const next = await v2.ask('Release P-8.');
  assert.deepEqual([versionOf(next, 'release-parcel'), versionOf(next, 'release-note')], ['2.0.0', '2.0.0']);
});

test('a run whose contract nobody offers any more is blocked by name, and moves by an explicit command with who and why', async (t) => {
  const directory = folder(t);
  const { waiting, row } = await waitingUnderV1(directory);
  await using v3 = await Deployment.of(directory, 'v3');
  await v3.approve(row);
  const blocked = await v3.settled(waiting.runId);
  assert.equal(blocked.blocked?.code, 'CONTRACT', JSON.stringify(blocked));
  assert.equal(blocked.blocked.moved?.[0]?.what, 'skill parcels/release-note');
  assert.match(blocked.blocked.question, /caseops runs migrate/);
  const denied = await v3.call('auditor@t9', `/runs/${waiting.runId}/migrate`, { body: { reason: 'I may not.' } });
  assert.equal(denied.status, 403);
  const moved = await v3.call('requester@t9', `/runs/${waiting.runId}/migrate`, {
    body: { reason: 'Version 3 is deployed.' },
  });
  assert.equal(moved.status, 200, JSON.stringify(moved.body));
  const run = await v3.settled(waiting.runId);
  assert.equal(run.result, 'completed', JSON.stringify(run));
  assert.deepEqual([versionOf(run, 'parcel-state'), versionOf(run, 'release-note')], ['1.0.0', '2.0.0']);
  const [migration] = run.migrations;
  assert.deepEqual(
    [migration?.by, migration?.reason, migration?.fromVersion, migration?.toVersion],
    ['requester@t9', 'Version 3 is deployed.', 1, 2],
  );
  assert.ok((await v3.why(run.runId)).every(({ holds }) => holds));
  const again = await v3.call('requester@t9', `/runs/${run.runId}/migrate`, { body: { reason: 'Once more.' } });
  assert.equal(again.status, 409);
});

test('a migration before the decision makes the approval stale; what is proposed again is approved anew, under v2', async (t) => {
  const directory = folder(t);
  const { waiting, row } = await waitingUnderV1(directory);
  await using v2 = await Deployment.of(directory, 'v2');
  const moved = await v2.call('requester@t9', `/runs/${waiting.runId}/migrate`, {
    body: { reason: 'v2 is out.' },
  });
  assert.equal(moved.status, 200, JSON.stringify(moved.body));
  const stale = await v2.call('approver@t9', `/approvals/${row.approvalId}`);
  const { state, closedReason } = stale.body as ApprovalRow;
  assert.equal(state, 'stale');
  assert.match(closedReason ?? '', /contract/);
  assert.equal((await v2.approve(row)).status, 409);
  const next = await v2.pending(waiting.runId);
  assert.ok(next !== undefined && next.approvalId !== row.approvalId);
  assert.equal((await v2.approve(next)).status, 200);
  const run = await v2.settled(waiting.runId);
  assert.equal(run.result, 'completed', JSON.stringify(run));
  assert.deepEqual([versionOf(run, 'release-parcel'), versionOf(run, 'release-note')], ['2.0.0', '2.0.0']);
  const kinds = run.migrations[0]?.steps.map(({ stepId, from, to }) => [stepId, from.version, to.version]);
  assert.deepEqual(
    kinds?.map(([, ...versions]) => versions),
    [
      ['1.0.0', '2.0.0'],
      ['1.0.0', '2.0.0'],
    ],
  );
});
