/**
 * `/api/v1/approvals` and `/api/v1/effects`. A decision names the action it is about in If-Match: another action than the pending one is
 * 412, a decision without one is 428. Source: SURFACES "HTTP API", DESIGN §3.10.
 */
import { approvalState, disposition } from '#contracts/approval.ts';
import { effectState } from '#contracts/effect-row.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { ApprovalDesk } from '#ports/approval-desk.ts';
import { Hono } from 'hono';
import { z } from 'zod';
import { readIdempotencyKey } from './idempotency-key.ts';
import { readCount, readWord } from './query.ts';
import { readBody } from './request-body.ts';
import type { ApiEnvironment } from './run-routes.ts';

const reason = z.string().max(2_000);
const decision = z.strictObject({
  disposition,
  reason: reason.nullable().default(null),
  evidenceInView: z.array(z.string().max(256)).max(1_000).optional(),
  channel: z.enum(['cli', 'http', 'console']).default('http'),
});
const withdrawal = z.strictObject({ reason: z.string().min(1).max(1_000) });
const finding = z.strictObject({
  finding: z.enum(['applied', 'absent']).optional(),
  reason: reason.nullable().default(null),
});
const undo = z.strictObject({ reason: z.string().min(1).max(500) });

const LIMIT = { name: 'limit', otherwise: 50, min: 1, max: 200 };

export function approvalRoutes(desk: ApprovalDesk): Hono<ApiEnvironment> {
  const routes = new Hono<ApiEnvironment>();
  routes.get('/', async (c) => {
    return c.json(
      await desk.approvals(c.var.grant, {
        state: readWord(c.req.query('state'), 'state', approvalState.options),
        runId: c.req.query('run'),
        limit: readCount(c.req.query('limit'), LIMIT),
      }),
    );
  });
  routes.get('/:id', async (c) => {
    const row = await desk.approval(c.var.grant, c.req.param('id'));
    return c.json(row, 200, { etag: `"${row.proposal.actionDigest}"` });
  });
  routes.post('/:id/decision', async (c) => {
    const digest = ifMatch(c.req.header('if-match'));
    const body = await readBody(c.req.raw, decision);
    const { evidenceInView, ...said } = body;
    const idempotencyKey = readIdempotencyKey(c.req.header('idempotency-key'));
    const request = { ...said, evidenceInView, approvalId: c.req.param('id'), digest, idempotencyKey };
    return c.json(await desk.decide(c.var.grant, request));
  });
  routes.post('/:id/withdraw', async (c) => {
    const body = await readBody(c.req.raw, withdrawal);
    return c.json(await desk.withdraw(c.var.grant, { approvalId: c.req.param('id'), reason: body.reason }));
  });
  routes.post('/:id/repropose', async (c) =>
    c.json(await desk.repropose(c.var.grant, c.req.param('id'), c.req.raw.signal), 201),
  );
  return routes;
}

export function effectRoutes(desk: ApprovalDesk): Hono<ApiEnvironment> {
  const routes = new Hono<ApiEnvironment>();
  routes.get('/', async (c) => {
    return c.json(
      await desk.effects(c.var.grant, {
        state: readWord(c.req.query('state'), 'state', effectState.options),
        runId: c.req.query('run'),
        limit: readCount(c.req.query('limit'), LIMIT),
      }),
    );
  });
  routes.get('/:id', async (c) => c.json(await desk.effect(c.var.grant, c.req.param('id'))));
  routes.post('/:id/reconcile', async (c) => {
    const body = await readBody(c.req.raw, finding);
    const request = { effectId: c.req.param('id'), finding: body.finding, reason: body.reason };
    return c.json(await desk.reconcile(c.var.grant, request, c.req.raw.signal));
  });
  routes.post('/:id/compensate', async (c) => {
    const body = await readBody(c.req.raw, undo);
    const request = { effectId: c.req.param('id'), reason: body.reason };
    return c.json(await desk.compensate(c.var.grant, request, c.req.raw.signal));
  });
  return routes;
}

/** The digest in `If-Match: "sha256:…"`. A weak or missing tag decides nothing. */
function ifMatch(header: string | undefined): string {
  const digest = /^"(sha256:[0-9a-f]{64})"$/.exec(header ?? '')?.[1];
  if (digest !== undefined) return digest;
  throw new CaseOpsError(
    'ERR_PRECONDITION_REQUIRED',
    'A decision names the action it is about: If-Match: "sha256:…".',
    {
      at: 'http',
    },
  );
}
