/**
 * Telemetry over the OpenTelemetry SDK: spans leave as OTLP over HTTP, in JSON. The packages are optional peers and are loaded when this
 * file is; no global provider is registered and no ambient context is used, so that two runtimes in one process stay apart.
 */
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace';
import { parseTraceparent, traceparentOf, type SpanIdentity } from '#kernel/span-identity.ts';
import type { Span, SpanAttribute, SpanAttributes, SpanOptions, Telemetry } from '#ports/telemetry.ts';
import { ALSO_NAMED, ATTRIBUTE_NAMES, ATTRIBUTE_NAMES_SCHEMA } from './attribute-names.ts';
import { createQuietTelemetry } from './none.ts';

export interface OtelOptions {
  /** Base URL of the receiver, such as `http://127.0.0.1:4318`; traces go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Sent with each export, such as the receiver's own credential; never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `caseops-supervisor`, `caseops-team-claims`. */
  readonly service: string;
  readonly version: string;
  readonly instanceId: string;
  readonly processId: number;
  readonly log?: Telemetry['log'];
}

const EXPORT_DELAY_MS = 500;
const EXPORT_TIMEOUT_MS = 2_000;
const QUEUE_SPAN_COUNT_MAX = 8_192;
const ATTRIBUTE_LENGTH_MAX = 256;
const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** Spans beyond the queue's bound are dropped: telemetry never holds up work. Disposal sends what is queued, within the timeout. */
export function createOtelTelemetry(options: OtelOptions): Telemetry {
  const ids = createChosenIds();
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
    ...(options.headers === undefined ? {} : { headers: { ...options.headers } }),
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.service,
      'service.version': options.version,
      'service.instance.id': options.instanceId,
      'process.pid': options.processId,
    }),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    idGenerator: ids.generator,
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH_MAX },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: EXPORT_DELAY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        maxQueueSize: QUEUE_SPAN_COUNT_MAX,
      }),
    ],
  });
  const tracer = provider.getTracer('caseops', options.version, { schemaUrl: ATTRIBUTE_NAMES_SCHEMA });
  const quiet = createQuietTelemetry(options.log);
  return {
    ...quiet,
    startSpan: (name, wanted = {}) => startSpan({ tracer, ids }, name, wanted),
    [Symbol.asyncDispose]: async () => {
      await provider.shutdown().catch(() => undefined);
    },
  };
}

interface Parts {
  readonly tracer: ReturnType<TracerProvider['getTracer']>;
  readonly ids: ChosenIds;
}

function startSpan({ tracer, ids }: Parts, name: string, wanted: SpanOptions): Span {
  const own = parseTraceparent(wanted.own);
  const parent = parseTraceparent(wanted.parent);
  const links = (wanted.links ?? []).flatMap((text) => parseTraceparent(text) ?? []);
  const span = ids.choose(own, () =>
    tracer.startSpan(
      name,
      {
        kind: KINDS[wanted.kind ?? 'internal'],
        attributes: wireAttributes(wanted.attributes),
        links: links.map((linked) => ({ context: contextOf(linked) })),
        ...(wanted.startedAtMs === undefined ? {} : { startTime: wanted.startedAtMs }),
      },
      parent === undefined ? ROOT_CONTEXT : within(parent),
    ),
  );
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: traceparentOf({ traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 }),
    end: ({ attributes, error, endedAtMs } = {}) => {
      span.setAttributes(wireAttributes({ ...attributes, errorCode: error ?? attributes?.errorCode }));
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      span.end(endedAtMs);
    },
  };
}

function within(parent: SpanIdentity): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { ...contextOf(parent), isRemote: true });
}

function contextOf({ traceId, spanId, sampled }: SpanIdentity) {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}

function wireAttributes(attributes: SpanAttributes = {}): Attributes {
  const wire: Attributes = {};
  for (const [field, value] of Object.entries(attributes) as [SpanAttribute, SpanAttributes[SpanAttribute]][]) {
    if (value === undefined) continue;
    const plain = typeof value === 'object' ? [...value] : value;
    wire[ATTRIBUTE_NAMES[field]] = plain;
    const also = ALSO_NAMED[field];
    if (also !== undefined) wire[also] = plain;
  }
  return wire;
}

interface ChosenIds {
  readonly generator: IdGenerator;
  /** The span that `start` opens gets this identity. Synchronous: nothing may interleave. */
  choose<T>(identity: SpanIdentity | undefined, start: () => T): T;
}

function createChosenIds(): ChosenIds {
  const random = new RandomIdGenerator();
  let chosen: SpanIdentity | undefined;
  return {
    generator: {
      generateTraceId: () => chosen?.traceId ?? random.generateTraceId(),
      generateSpanId: () => chosen?.spanId ?? random.generateSpanId(),
    },
    choose: (identity, start) => {
      chosen = identity;
      try {
        return start();
      } finally {
        chosen = undefined;
      }
    },
  };
}
