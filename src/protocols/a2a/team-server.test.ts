import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainControlClaims, plainWorkClaims, ISSUED_AT } from '#testing/plain-guard.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { leaseFor, rawRequest, serveFixture, type ServedFixture, wireSend } from '#testing/served-team.ts';
import { fixtureDispatch } from '#testing/team-fixtures.ts';

const clock = seededClock(ISSUED_AT * 1_000 + 1_000);
const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

function work(fixture: ServedFixture, dispatch = fixtureDispatch(), over = {}): ReturnType<typeof leaseFor> {
  return leaseFor(plainWorkClaims(fixture.audiences.rest, dispatch, over));
}

let controls = 0;
function control(
  fixture: ServedFixture,
  action: 'task:read' | 'task:list' | 'task:cancel' | 'task:subscribe',
  taskId?: string,
  over = {},
): ReturnType<typeof leaseFor> {
  const jti = `lse_c${(controls += 1)}`;
  const bound = taskId === undefined ? { action, jti } : { action, jti, taskId };
  return leaseFor(plainControlClaims(fixture.audiences.rest, bound, over));
}

const completing = (fixture: ServedFixture): void => {
  fixture.door.onOpen = (task) => {
    task.status('running');
    task.deliver();
    task.end('completed');
  };
};

test('a dispatch sent over HTTP+JSON comes back as a completed task with its artifact', async () => {
  await using fixture = await serveFixture(clock);
  completing(fixture);
  const lease = work(fixture);
  const response = await rawRequest(`${fixture.audiences.rest}/message:send`, {
    body: JSON.stringify({ message: wireSend(fixtureDispatch(), lease) }),
    lease,
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^application\/a2a\+json/);
  assert.equal(response.headers.get('a2a-extensions'), 'urn:caseops:ext:authority-lease:v1');
  const { task } = (await json(response)) as { task: { status: { state: string }; artifacts: unknown[]; id: string } };
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(task.artifacts.length, 1);
  const read = await rawRequest(`${fixture.audiences.rest}/tasks/${task.id}`, {
    lease: control(fixture, 'task:read', task.id),
  });
  assert.equal(read.status, 200);
  assert.deepEqual(((await json(read)) as typeof task).id, task.id);
});

test('neither lease nor proof is kept with the task', async () => {
  await using fixture = await serveFixture(clock);
  completing(fixture);
  const lease = work(fixture);
  await rawRequest(`${fixture.audiences.rest}/message:send`, {
    body: JSON.stringify({ message: wireSend(fixtureDispatch(), lease) }),
    lease,
  });
  assert.equal(fixture.door.opened.length, 1);
  assert.ok(!fixture.door.stored().includes(lease.token.slice(6, 60)));
});
