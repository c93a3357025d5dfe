/**
 * The HTTP edge: the API under `/api/v1`, the issuer's token endpoint, health, and the read-only page. Everything it decides is who
 * asks; the rest is asked of the run desk. Source: SURFACES.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RetentionDesk } from '#ports/retention-desk.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { Hono } from 'hono';
import { z } from 'zod';
import { approvalRoutes, effectRoutes } from './approval-routes.ts';
import { pageRoutes } from './page-routes.ts';
import { notFound, problemResponse } from './problem.ts';
import { readBody } from './request-body.ts';
import { retentionRoutes } from './retention-routes.ts';
import { runRoutes, type ApiEnvironment } from './run-routes.ts';
import { traceRequests } from './trace-requests.ts';

export interface TokenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface TokenResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpEdge {
  readonly desk: RunDesk;
  /** Undefined: nothing is erased through this edge. */
  readonly retention?: RetentionDesk | undefined;
  /** The person behind a bearer token, or undefined. */
  readonly authenticate: (token: string) => RootGrant | undefined | Promise<RootGrant | undefined>;
  /** The person behind the page's cookie: the same tokens, handed over once by `?key=`. */
  readonly token: (request: TokenRequest) => Promise<TokenResponse>;
  readonly jwks: () => unknown;
  /** Directory with the page's style sheets and icons. */
  readonly assetsDirectory: string;
  readonly telemetry?: Telemetry | undefined;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const TOKEN_BYTES_MAX = 65_536;
const planBody = z.strictObject({ text: z.string(), language: z.string().optional(), plan: z.json().optional() });

export function createHttpEdge(edge: HttpEdge): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  app.onError((error, c) => problemResponse(error instanceof z.ZodError ? invalidQuery(error) : error, c.req.path));
  app.notFound((c) => problemResponse(notFound(`${c.req.method} ${c.req.path}`), c.req.path));
  const { telemetry } = edge;
  if (telemetry !== undefined) {
    app.use('*', traceRequests(telemetry));
    app.get('/metrics', (c) => c.text(telemetry.metrics(), 200, { 'content-type': METRICS_TYPE }));
  }
  app.get('/health/live', (c) => c.json({ status: 'live' }));
  app.get('/jwks.json', (c) => c.json(edge.jwks()));
  app.post('/token', async (c) => {
    const body = new Uint8Array(await c.req.raw.arrayBuffer());
    if (body.byteLength > TOKEN_BYTES_MAX)
      throw new CaseOpsError('ERR_JSON_SIZE', `Expected at most ${TOKEN_BYTES_MAX} bytes.`, { at: 'issuer' });
    const answer = await edge.token({ method: c.req.method, url: c.req.url, headers: c.req.header(), body });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  });
  app.route('/api/v1', apiRoutes(edge));
  app.route('/', pageRoutes(edge));
  return app;
}

function apiRoutes({ desk, authenticate, retention }: HttpEdge): Hono<ApiEnvironment> {
  const api = new Hono<ApiEnvironment>();
  api.use('*', async (c, next) => {
    const token = /^Bearer ([\w.~+/-]+=*)$/.exec(c.req.header('authorization') ?? '')?.[1];
    const grant = token === undefined ? undefined : await authenticate(token);
    if (grant === undefined)
      throw new CaseOpsError('ERR_UNAUTHENTICATED', 'Expected a valid bearer token.', { at: 'http' });
    c.set('grant', grant);
    await next();
  });
  api.route('/runs', runRoutes(desk));
  api.route('/approvals', approvalRoutes(desk));
  api.route('/effects', effectRoutes(desk));
  if (retention !== undefined) api.route('/', retentionRoutes(retention));
  api.get('/agents', async (c) => c.json(await desk.agents(c.var.grant, c.req.raw.signal)));
  api.get('/whoami', (c) => c.json(c.var.grant));
  api.post('/plans', async (c) => {
    const { text, language, plan } = await readBody(c.req.raw, planBody);
    const request = { text, language, sessionId: undefined, idempotencyKey: undefined };
    const signal = c.req.raw.signal;
    return c.json(
      plan === undefined
        ? await desk.preview(c.var.grant, request, signal)
        : await desk.validate(c.var.grant, { ...request, plan }, signal),
    );
  });
  return api;
}

function invalidQuery(error: z.ZodError): CaseOpsError {
  return new CaseOpsError(
    'ERR_USAGE',
    `A query parameter does not fit: ${error.issues.map((issue) => issue.message).join('; ')}.`,
    { at: 'http' },
  );
}
