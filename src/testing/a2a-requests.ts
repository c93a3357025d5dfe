/** The same A2A operation over either binding, and its answer in one shape. For tests of the protocol. */
import assert from 'node:assert/strict';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { ISSUED_AT, plainControlClaims, plainWorkClaims } from './plain-guard.ts';
import { seededClock } from './seeded-clock.ts';
import { leaseFor, type RawRequest, rawRequest, serveFixture, type ServedFixture, wireSend } from './served-team.ts';
import { fixtureDispatch } from './team-fixtures.ts';

export const BINDINGS = ['rest', 'rpc'] as const;
export type Side = (typeof BINDINGS)[number];
type ControlAction = 'task:read' | 'task:list' | 'task:cancel' | 'task:subscribe';

/** A served fixture team; its time stands still. */
export const start = (): Promise<ServedFixture> => serveFixture(seededClock(ISSUED_AT * 1_000 + 1_000));

let leaseCount = 0;
/** A work lease for the fixture's dispatch. */
export const work = (fixture: ServedFixture, side: Side, over: Partial<LeaseClaims> = {}): HeldLease =>
  leaseFor(plainWorkClaims(fixture.audiences[side], fixtureDispatch(), over));
/** A control lease, each with its own id. */
export function control(
  fixture: ServedFixture,
  side: Side,
  asked: { readonly action: ControlAction; readonly taskId?: string; readonly over?: Partial<LeaseClaims> },
): HeldLease {
  const jti = `lse_c${(leaseCount += 1)}`;
  return leaseFor(plainControlClaims(fixture.audiences[side], { ...asked, jti }, asked.over));
}

/** Every task delivers and completes by itself. */
export const completing = (fixture: ServedFixture): void => {
  fixture.door.onOpen = (task) => {
    task.status('running');
    task.deliver();
    task.end('completed');
  };
};

export interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
  /** ErrorInfo's reason, or the problem's code. */
  readonly reason: string | undefined;
  readonly rpcCode: number | undefined;
}

/** Reads an answer of either binding. */
export async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  const error = body['error'] as { code?: number; details?: Info[]; data?: Info[] } | undefined;
  const info = (error?.details ?? error?.data ?? [])[0];
  const code = body['code'] as string | undefined;
  const rpcCode = 'jsonrpc' in body ? error?.code : undefined;
  return { status: response.status, body, headers: response.headers, reason: info?.reason ?? code, rpcCode };
}
interface Info {
  readonly reason: string;
  readonly metadata?: Record<string, string>;
}

const OPERATIONS = {
  send: { method: 'SendMessage', path: () => '/message:send', verb: 'POST' },
  stream: { method: 'SendStreamingMessage', path: () => '/message:stream', verb: 'POST' },
  get: { method: 'GetTask', path: (id: string) => `/tasks/${id}`, verb: 'GET' },
  list: { method: 'ListTasks', path: () => '/tasks', verb: 'GET' },
  cancel: { method: 'CancelTask', path: (id: string) => `/tasks/${id}:cancel`, verb: 'POST' },
  subscribe: { method: 'SubscribeToTask', path: (id: string) => `/tasks/${id}:subscribe`, verb: 'POST' },
} as const;

/** The same operation over either binding. */
export function ask(
  fixture: ServedFixture,
  side: Side,
  asked: RawRequest & { readonly op: keyof typeof OPERATIONS; readonly params?: object; readonly id?: string },
): Promise<Response> {
  const { op, params = asked.id === undefined ? {} : { id: asked.id }, id = '', ...request } = asked;
  const { method, path, verb } = OPERATIONS[op];
  if (side === 'rpc')
    return rawRequest(fixture.audiences.rpc, {
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      ...request,
    });
  const body = op === 'send' || op === 'stream' ? { body: JSON.stringify(params) } : {};
  return rawRequest(fixture.audiences.rest + path(id), { method: verb, ...body, ...request });
}

/** Sends the fixture's dispatch without waiting; the task's id. */
export async function sent(fixture: ServedFixture, side: Side): Promise<string> {
  const lease = work(fixture, side);
  const params = { message: wireSend(fixtureDispatch(), lease), configuration: { returnImmediately: true } };
  const { status } = await answered(await ask(fixture, side, { op: 'send', params, lease }));
  assert.equal(status, 200);
  return fixture.door.opened.at(-1)?.taskId ?? '';
}

export interface Frame {
  readonly id: string;
  readonly data: string;
}

/** The frames of an event stream. */
export async function* readFrames(response: Response): AsyncGenerator<Frame, void, undefined> {
  let text = '';
  assert.ok(response.body);
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string): string => lines.find((line) => line.startsWith(name))?.slice(name.length) ?? '';
      yield { id: field('id: '), data: field('data: ') };
    }
  }
}

/** The id of the next frame; undefined at the end. */
export async function nextId(frames: AsyncIterator<Frame>): Promise<string | undefined> {
  const step = await frames.next();
  return step.done === true ? undefined : step.value.id;
}

/** Waits until it holds, for at most 20,000 turns of the event loop. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => void setImmediate(resolve));
  }
  assert.fail('the awaited state did not come');
}
