import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Artifact } from '#contracts/artifact.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { TeamUpdate } from '#ports/team-transport.ts';
import { ISSUED_AT, plainControlClaims, plainLease, plainWorkClaims } from '#testing/plain-guard.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { rawRequest, serveFixture, type ServedFixture, wireSend } from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';
import { CARD_PATH } from './card-endpoint.ts';
import { createA2aTransport } from './team-client.ts';
import type { Binding } from './wire-error.ts';

const BINDINGS = ['HTTP+JSON', 'JSONRPC'] as const satisfies readonly Binding[];
const never = new AbortController().signal;
const LARGE: Partial<Artifact> = { data: { text: 'five megabytes '.repeat(350_000) } };
const HUGE: Partial<Artifact> = { data: { text: 'x'.repeat(33_554_432) } };

/** Changes the frames of the first stream that is answered; further streams pass. */
type Frames = (frames: readonly string[]) => readonly string[];
interface Fault {
  readonly change?: Frames;
  /** Nothing can be reached after the first stream. */
  readonly isDown?: boolean;
}
interface Seen {
  readonly paths: string[];
  readonly frameBytes: number[];
}

function throughFrames({ change, isDown }: Fault, seen: Seen): typeof fetch {
  let streamCount = 0;
  return async (input, init) => {
    if (isDown === true && streamCount > 0) throw new TypeError('fetch failed');
    const response = await fetch(input, init);
    seen.paths.push(`${init?.method ?? 'GET'} ${String(input instanceof Request ? input.url : input)}`);
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) return response;
    streamCount += 1;
    const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
    seen.frameBytes.push(...frames.map((frame) => frame.length));
    const kept = streamCount === 1 && change !== undefined ? change(frames) : frames;
    return new Response(kept.map((frame) => `${frame}\n\n`).join(''), response);
  };
}

interface World {
  readonly fixture: ServedFixture;
  readonly seen: Seen;
  send(): Promise<readonly TeamUpdate[]>;
}

/** A team that delivers this artifact and ends, and a client that reads its first stream with a fault. */
async function worldOf(binding: Binding, over: Partial<Artifact>, fault: Fault = {}): Promise<World & AsyncDisposable> {
  const fixture = await serveFixture(seededClock(ISSUED_AT * 1_000));
  fixture.door.onOpen = (task) => {
    task.deliver(over);
    task.end('completed');
  };
  const still = seededClock(ISSUED_AT * 1_000 + 1_000);
  const seen: Seen = { paths: [], frameBytes: [] };
  let controlCount = 0;
  const transport = createA2aTransport({
    team: 'claims',
    cardUrl: fixture.server.url + CARD_PATH,
    verifyCard: () => ({ ok: true, thumbprint: 'pinned' }),
    binding,
    clock: { ...still, sleep: async (ms) => void (await Promise.all([still.advance(ms), still.sleep(ms)])) },
    controlLease: async (asked) => {
      const jti = `lse_ctl${(controlCount += 1)}`;
      const { subject: sub, tenant, runId: run, stepId: step, attempt } = asked.dispatch;
      const task = { run, step, attempt, task_id: asked.taskId };
      return plainLease(plainControlClaims(asked.audience, { ...asked, jti }, { sub, tenant, task }));
    },
    fetch: throughFrames(fault, seen),
  });
  const audience = binding === 'HTTP+JSON' ? fixture.audiences.rest : fixture.audiences.rpc;
  return {
    fixture,
    seen,
    send: async () => {
      const dispatch = fixtureDispatch();
      const updates: TeamUpdate[] = [];
      for await (const update of transport.send(dispatch, plainLease(plainWorkClaims(audience, dispatch)), never))
        updates.push(update);
      return updates;
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

const isPiece = (frame: string): boolean => frame.includes('artifact-chunk');

/** The third and fourth piece change places. */
const twoSwapped: Frames = (frames) => {
  const [one, two] = frames.filter(isPiece).slice(2, 4);
  return frames.map((frame) => (frame === one ? (two ?? '') : frame === two ? (one ?? '') : frame));
};

function delivered(updates: readonly TeamUpdate[]): Extract<TeamUpdate, { kind: 'artifact' }> {
  const [started, artifact, ...more] = updates;
  assert.equal(started?.kind, 'started');
  assert.ok(artifact?.kind === 'artifact', JSON.stringify(artifact)?.slice(0, 500));
  assert.deepEqual(more, []);
  return artifact;
}

for (const binding of BINDINGS) {
  test(`${binding}: an artifact of 5 MB is streamed in pieces and comes back whole, by one request`, async () => {
    await using world = await worldOf(binding, LARGE);
    const { artifact, bytes } = delivered(await world.send());
    assert.ok(bytes.byteLength > 5_000_000);
    assert.deepEqual(artifact.data, LARGE.data);
    assert.equal(digestOfBytes(bytes), digestOfBytes(canonicalText(artifact) ?? ''));
    assert.equal(world.seen.paths.length, 1, world.seen.paths.join(', '));
    assert.ok(world.seen.frameBytes.length > 20);
    assert.ok(Math.max(...world.seen.frameBytes) < 400_000);
  });

  test(`${binding}: a task that ended before is sent as its snapshot and the pieces after it`, async () => {
    await using world = await worldOf(binding, LARGE);
    const first = delivered(await world.send());
    assert.deepEqual(delivered(await world.send()).bytes, first.bytes);
    assert.equal(world.seen.paths.length, 2, world.seen.paths.join(', '));
    assert.ok(Math.max(...world.seen.frameBytes) < 400_000);
  });

  test(`${binding}: a stream that is cut before the last piece delivers nothing; the task is asked and has it whole`, async () => {
    await using world = await worldOf(binding, LARGE, { change: (frames) => frames.slice(0, 5) });
    const { artifact } = delivered(await world.send());
    assert.deepEqual(artifact.data, LARGE.data);
    assert.ok(world.seen.paths.length > 1);
  });

  test(`${binding}: a stream that is cut, of a task that cannot be asked, has delivered nothing`, async () => {
    await using world = await worldOf(binding, LARGE, { change: (frames) => frames.slice(0, 5), isDown: true });
    const [started, failed, ...more] = await world.send();
    assert.equal(started?.kind, 'started');
    assert.ok(failed?.kind === 'failed');
    assert.equal(failed.error.code, 'ERR_TEAM_UNREACHABLE');
    assert.deepEqual(more, []);
  });

  test(`${binding}: pieces out of order are refused, and the attempt may be repeated`, async () => {
    await using world = await worldOf(binding, LARGE, { change: twoSwapped });
    const [, failed, ...more] = await world.send();
    assert.ok(failed?.kind === 'failed');
    assert.equal(failed.error.code, 'ERR_ARTIFACT_INCOMPLETE');
    assert.equal(failed.error.retryable, true);
    assert.deepEqual(more, []);
    assert.equal(delivered(await world.send()).artifact.contentDigest.length, 71);
  });

  test(`${binding}: an artifact beyond 32 MiB is refused at its first piece`, async () => {
    await using world = await worldOf(binding, HUGE);
    const [, failed] = await world.send();
    assert.ok(failed?.kind === 'failed');
    assert.equal(failed.error.code, 'ERR_ARTIFACT_SIZE');
    assert.equal(failed.error.retryable, false);
  });
}

test('of an artifact in pieces only the last has the number of its event, so that who resumes gets it whole', async () => {
  await using world = await worldOf('HTTP+JSON', LARGE);
  const dispatch = fixtureDispatch();
  const { rest } = world.fixture.audiences;
  const lease = plainLease(plainWorkClaims(rest, dispatch));
  const response = await rawRequest(`${rest}/message:stream`, {
    lease,
    body: JSON.stringify({ message: wireSend(dispatch, lease), configuration: { returnImmediately: false } }),
  });
  const frames = (await response.text()).split('\n\n').filter(isPiece);
  const ids = frames.map((frame) => Number(/^id: (\d+)$/m.exec(frame)?.[1]));
  assert.ok(frames.length > 20);
  assert.equal(new Set(ids.slice(0, -1)).size, 1);
  assert.equal(ids.at(-1), (ids[0] ?? 0) + 1);
  const last = frames.at(-1) ?? '';
  assert.match(last, /"lastChunk":true/);
});

test('a list of tasks holds small artifacts and no large ones', async () => {
  for (const [over, count] of [
    [LARGE, 0],
    [{}, 1],
  ] as const) {
    await using world = await worldOf('JSONRPC', over);
    await world.send();
    const { rpc } = world.fixture.audiences;
    const lease = plainLease(plainControlClaims(rpc, { action: 'task:list', jti: 'lse_list' }));
    const call = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { includeArtifacts: true } };
    const response = await rawRequest(rpc, { lease, body: JSON.stringify(call) });
    const body = (await response.json()) as { readonly result?: { readonly tasks: readonly Listed[] } };
    assert.equal(body.result?.tasks.length, 1, JSON.stringify(body).slice(0, 300));
    assert.equal(body.result.tasks[0]?.artifacts?.length ?? 0, count);
  }
});

interface Listed {
  readonly artifacts?: readonly unknown[];
}
