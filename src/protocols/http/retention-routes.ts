/** `/api/v1/retention` and `/api/v1/erasures`: what is due or asked for, first counted, then, when told so, taken out. Decision 0022. */
import type { RetentionDesk } from '#ports/retention-desk.ts';
import { Hono } from 'hono';
import { z } from 'zod';
import { readBody } from './request-body.ts';
import type { ApiEnvironment } from './run-routes.ts';

const enforcement = z.strictObject({ apply: z.boolean().default(false) });
const erasure = z.strictObject({
  subject: z.string().min(3).max(200),
  reason: z.string().min(1).max(500),
  apply: z.boolean().default(false),
});

export function retentionRoutes(desk: RetentionDesk): Hono<ApiEnvironment> {
  const routes = new Hono<ApiEnvironment>();
  routes.post('/retention', async (c) =>
    c.json(await desk.enforce(c.var.grant, await readBody(c.req.raw, enforcement))),
  );
  routes.post('/erasures', async (c) => c.json(await desk.forget(c.var.grant, await readBody(c.req.raw, erasure))));
  return routes;
}
