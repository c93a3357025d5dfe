/** Telemetry that exports no spans: contexts are passed on unchanged, what is counted is counted, what is logged is logged. */
import { parseTraceparent } from '#kernel/span-identity.ts';
import type { SpanOptions, Telemetry } from '#ports/telemetry.ts';
import { createMetrics } from './metrics.ts';

/** A participant that records nothing passes the trace on as it came (W3C Trace Context §2). */
export function createQuietTelemetry(log: Telemetry['log'] = () => undefined): Telemetry {
  const metrics = createMetrics();
  return {
    startSpan: (_name, { own, parent }: SpanOptions = {}) => ({
      traceparent: own ?? (parseTraceparent(parent) === undefined ? undefined : parent),
      end: () => undefined,
    }),
    count: metrics.count,
    observe: metrics.observe,
    log: (level, message, attributes) => {
      metrics.count('log_lines', { level });
      log(level, message, attributes);
    },
    metrics: metrics.render,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
