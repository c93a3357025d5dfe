/**
 * Where a run and its steps stand in a trace, computed from their ids alone: a step leads to its span and a span to its step without a
 * table between them, and a span that is told again after a crash has the id that its children already name. Source: DESIGN §5
 * "Step ↔ span both ways"; W3C Trace Context, level 1.
 */
import type { Origin } from '#contracts/event.ts';
import type { DispatchId, RunId } from '#contracts/ids.ts';
import { traceparent as traceparentSchema } from '#contracts/ids.ts';
import { digestOfBytes } from './digest.ts';

export interface SpanIdentity {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** False when the caller asked that nothing be recorded: passed on, so that all hops agree. */
  readonly sampled: boolean;
}

const PREFIX_LENGTH = 'sha256:'.length;
const SAMPLED = 1;

/** Undefined for anything but version 00 with ids that are not all zero. */
export function parseTraceparent(text: string | undefined): SpanIdentity | undefined {
  const parsed = traceparentSchema.safeParse(text);
  if (!parsed.success) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = parsed.data.split('-');
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** The W3C header of a span. */
export function traceparentOf({ traceId, spanId, sampled }: SpanIdentity): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Of a run, or of one attempt of a step by its dispatch. */
export function spanIdOf(id: RunId | DispatchId): string {
  return digestOfBytes(`span ${id}`).slice(PREFIX_LENGTH, PREFIX_LENGTH + 16);
}

/** The trace that brought the run, or one of the run's own. */
export function traceIdOfRun(runId: RunId, origin: Origin | undefined): string {
  return (
    (origin === undefined ? undefined : callerOf(origin))?.traceId ??
    digestOfBytes(`trace ${runId}`).slice(PREFIX_LENGTH, PREFIX_LENGTH + 32)
  );
}

/** The header of a run's span, or of an attempt's when its dispatch is named. */
export function traceparentOfRun(runId: RunId, origin: Origin, dispatchId?: DispatchId): string {
  const sampled = callerOf(origin)?.sampled ?? true;
  return traceparentOf({ traceId: traceIdOfRun(runId, origin), spanId: spanIdOf(dispatchId ?? runId), sampled });
}

function callerOf(origin: Origin): SpanIdentity | undefined {
  return origin.level === 'governed' ? undefined : parseTraceparent(origin.traceparent);
}
