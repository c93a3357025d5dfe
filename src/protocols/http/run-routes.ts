/** `/api/v1/runs`: submit, look, follow, answer, cancel, decide between results, plan again, migrate, and the chain behind a claim. Source: SURFACES "HTTP API". */
import type { RootGrant } from '#contracts/lease.ts';
import { runView } from '#contracts/run-view.ts';
import { runResult } from '#contracts/step-result.ts';
import type { Quota, RunDesk } from '#ports/run-desk.ts';
import { Hono } from 'hono';
import { z } from 'zod';
import { eventStream } from './event-stream.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { readCount, readWord } from './query.ts';
import { readBody } from './request-body.ts';
import type { TraceEnvironment } from './trace-requests.ts';

/** What the middleware in front left behind: who asks. */
export interface ApiEnvironment {
  readonly Variables: { grant: RootGrant } & TraceEnvironment['Variables'];
}

const submission = z.strictObject({
  text: z.string(),
  language: z
    .string()
    .regex(/^[a-z]{2}$/)
    .optional(),
  sessionId: z.string().max(80).optional(),
});
const answerBody = z.strictObject({ input: z.record(z.string().max(128), z.string().max(2_000)) });
const cancelBody = z.strictObject({ reason: z.string().max(1_000).default('cancelled by the requester') });

/** `to` names what is offered now: there is nothing else that a run could be moved to. */
const resolveBody = z.strictObject({
  stepId: z.string().min(1).max(64),
  held: z.string().min(1).max(80),
  reason: z.string().min(1).max(1_000),
});
const replanBody = z.strictObject({
  reason: z.string().min(1).max(1_000),
  plan: z.record(z.string(), z.json()).optional(),
});
const migrateBody = z.strictObject({
  reason: z.string().min(1).max(1_000),
  to: z.literal('current').default('current'),
});

const WAIT_S_MAX = 120;

export function runRoutes(desk: RunDesk): Hono<ApiEnvironment> {
  const routes = new Hono<ApiEnvironment>();
  routes.post('/', async (c, next) => {
    await next();
    for (const [name, value] of rateHeaders(desk.quota(c.var.grant))) c.res.headers.set(name, value);
  });
  routes.post('/', async (c) => {
    const body = await readBody(c.req.raw, submission);
    const { view, replayed } = await desk.submit(c.var.grant, {
      text: body.text,
      language: body.language,
      sessionId: body.sessionId,
      idempotencyKey: readIdempotencyKey(c.req.header('idempotency-key')),
      traceparent: c.var.traceparent,
    });
    const waitS = preferredWait(c.req.header('prefer'));
    const shown =
      waitS === 0 ? view : await waited(desk, c.var.grant, { runId: view.runId, waitS, signal: c.req.raw.signal });
    const done = shown.state === 'ended' || shown.state === 'blocked';
    const headers = { location: `/api/v1/runs/${view.runId}`, ...(replayed ? { 'idempotency-replayed': 'true' } : {}) };
    return c.json(shown, done ? 200 : 202, headers);
  });
  routes.get('/', async (c) => {
    return c.json(
      await desk.list(c.var.grant, {
        limit: readCount(c.req.query('limit'), { name: 'limit', otherwise: 50, min: 1, max: 200 }),
        before: c.req.query('before'),
        result: readWord(c.req.query('result'), 'result', runResult.options),
        state: readWord(c.req.query('state'), 'state', runView.shape.state.options),
      }),
    );
  });
  routes.get('/:id', async (c) => c.json(await desk.view(c.var.grant, c.req.param('id'))));
  routes.get('/:id/events', async (c) => {
    const runId = c.req.param('id');
    await desk.view(c.var.grant, runId);
    const afterSeq = readCount(c.req.header('last-event-id') ?? c.req.query('after'), {
      name: 'after',
      otherwise: 0,
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    });
    return eventStream(desk.follow(c.var.grant, { runId, afterSeq }, c.req.raw.signal));
  });
  routes.get('/:id/why', async (c) => c.json(await desk.why(c.var.grant, c.req.param('id'), c.req.query('claim'))));
  routes.post('/:id/answer', async (c) => {
    const { input } = await readBody(c.req.raw, answerBody);
    return c.json(await desk.answer(c.var.grant, c.req.param('id'), input));
  });
  routes.post('/:id/cancel', async (c) => {
    const { reason } = await readBody(c.req.raw, cancelBody);
    return c.json(await desk.cancel(c.var.grant, c.req.param('id'), reason), 202);
  });
  planRoutes(desk, routes);
  routes.post('/:id/migrate', async (c) => {
    const { reason } = await readBody(c.req.raw, migrateBody);
    return c.json(await desk.migrate(c.var.grant, { runId: c.req.param('id'), reason }, c.req.raw.signal));
  });
  return routes;
}

/** What changes a plan under way. */
function planRoutes(desk: RunDesk, routes: Hono<ApiEnvironment>): void {
  routes.post('/:id/resolve', async (c) => {
    const body = await readBody(c.req.raw, resolveBody);
    return c.json(await desk.resolve(c.var.grant, { runId: c.req.param('id'), ...body }));
  });
  routes.post('/:id/replan', async (c) => {
    const body = await readBody(c.req.raw, replanBody);
    return c.json(await desk.replan(c.var.grant, { runId: c.req.param('id'), ...body }, c.req.raw.signal));
  });
}

/** The quota of goals as draft-ietf-httpapi-ratelimit-headers writes it; also on refusals. */
function rateHeaders({ goalCountMax, windowS, goalCountLeft, resetS }: Quota): readonly (readonly [string, string])[] {
  return [
    ['ratelimit-policy', `"goals";q=${goalCountMax};w=${windowS}`],
    ['ratelimit', `"goals";r=${goalCountLeft};t=${resetS}`],
  ];
}

interface Wait {
  readonly runId: string;
  readonly waitS: number;
  readonly signal: AbortSignal;
}

/** The run when it has settled, or as it stands when the time is up. */
async function waited(desk: RunDesk, grant: RootGrant, { runId, waitS, signal }: Wait): ReturnType<RunDesk['view']> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(waitS * 1_000)]);
  try {
    return await desk.settled(grant, runId, limit);
  } catch (error) {
    if (!limit.aborted) throw error;
    return desk.view(grant, runId);
  }
}

/** RFC 7240 `Prefer: wait=SECONDS`; 0 when absent. */
function preferredWait(header: string | undefined): number {
  const seconds = Number(/(?:^|,)\s*wait=(\d{1,4})/.exec(header ?? '')?.[1] ?? '0');
  return Math.min(WAIT_S_MAX, seconds);
}
