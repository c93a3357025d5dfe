/**
 * The HTTP edge's own telemetry: every request is counted by its route's template; what begins or changes something has a span, which
 * continues the caller's trace when the request names one. Reads have none: a page that is looked at is not an event of a run.
 */
import type { Telemetry } from '#ports/telemetry.ts';
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';

export interface TraceEnvironment {
  readonly Variables: {
    /** The span of this request, or the trace that it came with. */
    traceparent: string | undefined;
    requestId: string | undefined;
  };
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;
const TRACEPARENT_LENGTH = 55;

/** Sets `traceparent` and `requestId`; answers with the request's id, the caller's own when it gave one. */
export function traceRequests(telemetry: Telemetry): MiddlewareHandler<TraceEnvironment> {
  return async (c, next) => {
    const method = c.req.method;
    const given = c.req.header('x-request-id');
    const parent = c.req.header('traceparent')?.slice(0, TRACEPARENT_LENGTH);
    const writes = method !== 'GET' && method !== 'HEAD';
    const span = writes ? telemetry.startSpan(nameOf(method, c.req.path), { parent, kind: 'server' }) : undefined;
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : spanIdOf(span?.traceparent);
    c.set('traceparent', span?.traceparent);
    c.set('requestId', requestId);
    await next();
    const route = routePath(c, -1);
    const { status } = c.res;
    if (requestId !== undefined) c.header('x-request-id', requestId);
    telemetry.count('http_requests', { method, route, status: `${status}` });
    span?.end({
      attributes: { httpMethod: method, httpRoute: route, httpStatus: status, requestId },
      error: status >= 500 ? `${status}` : undefined,
    });
  };
}

/** By the path without its ids; a path that is none of ours is not told. */
function nameOf(method: string, path: string): string {
  const template = path.replaceAll(/\/(?:run|apv|eff|ses)_[^/]*/g, '/:id');
  return `${method} ${/^\/(token|api\/v1)(\/(:id|[a-z]{1,16})){0,4}$/.test(template) ? template : 'other'}`;
}

function spanIdOf(traceparent: string | undefined): string | undefined {
  const spanId = traceparent?.split('-')[2];
  return spanId === undefined ? undefined : `req-${spanId}`;
}
