/** Telemetry that remembers its spans: for tests of who continues whose trace. */
import { parseTraceparent, traceparentOf } from '#kernel/span-identity.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { createQuietTelemetry } from '#telemetry/none.ts';

export interface RecordedSpan {
  readonly name: string;
  readonly traceparent: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly startedAtMs: number | undefined;
  ended: boolean;
  error: string | undefined;
}

export interface RecordingTelemetry extends Telemetry {
  /** In the order in which they began. */
  readonly spans: readonly RecordedSpan[];
}

/** Ids are counted: the same calls give the same spans. */
export function recordingTelemetry(): RecordingTelemetry {
  const spans: RecordedSpan[] = [];
  return {
    ...createQuietTelemetry(),
    spans,
    startSpan: (name, { own, parent, links = [], attributes = {}, startedAtMs } = {}) => {
      const count = spans.length + 1;
      const traceId = parseTraceparent(parent)?.traceId ?? `${count}`.padStart(32, 'a');
      const traceparent = own ?? traceparentOf({ traceId, spanId: `${count}`.padStart(16, '0'), sampled: true });
      const span: RecordedSpan = {
        name,
        traceparent,
        parent,
        links,
        startedAtMs,
        ended: false,
        error: undefined,
        attributes: { ...attributes },
      };
      spans.push(span);
      return {
        traceparent,
        end: (end = {}) => {
          if (span.ended) return;
          Object.assign(span.attributes, end.attributes);
          Object.assign(span, { ended: true, error: end.error });
        },
      };
    },
  };
}
