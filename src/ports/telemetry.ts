/**
 * What the parts tell those who operate them: spans, counts, times and log lines. Contexts are explicit W3C traceparent strings; nothing
 * here is read from an ambient context. Telemetry is no record: a part that tells nothing works the same. Source: DESIGN §5, PROTOCOLS
 * "Telemetry". What the names look like on the wire is in `telemetry/attribute-names.ts`.
 */

/** What a span may say, as a closed list: no payloads, no free text, nothing that authorises. */
interface SpanFields {
  readonly tenant: string;
  readonly sessionId: string;
  readonly requestId: string;
  readonly runId: string;
  readonly goalId: string;
  readonly planId: string;
  readonly planVersion: number;
  readonly stepId: string;
  readonly attempt: number;
  readonly dispatchId: string;
  readonly taskId: string;
  readonly contextId: string;
  /** The workload that acts. */
  readonly agentId: string;
  readonly agentName: string;
  readonly skillId: string;
  readonly artifactId: string;
  readonly evidenceIds: readonly string[];
  readonly leaseId: string;
  readonly toolName: string;
  readonly toolServer: string;
  readonly toolOutcome: string;
  readonly mcpMethod: string;
  readonly mcpRevision: string;
  /** `execute_tool` or `invoke_agent`. */
  readonly genAiOperation: string;
  readonly httpMethod: string;
  /** The route's template, never the path. */
  readonly httpRoute: string;
  readonly httpStatus: number;
  readonly result: string;
  readonly errorCode: string;
}
export type SpanAttribute = keyof SpanFields;
export type SpanAttributes = { readonly [K in SpanAttribute]?: SpanFields[K] | undefined };

export interface SpanOptions {
  /** The span that asked, W3C; undefined or unreadable: the first of a trace. */
  readonly parent?: string | undefined;
  /** A span whose id is known before it is told, W3C. Without a parent its trace id is kept as well. */
  readonly own?: string | undefined;
  /** Spans of other traces that belong to this one: a hop that begins a new trace links to where it came from. */
  readonly links?: readonly string[];
  /** Default `internal`. */
  readonly kind?: 'internal' | 'server' | 'client';
  readonly attributes?: SpanAttributes;
  /** Default: now. */
  readonly startedAtMs?: number;
}

export interface SpanEnd {
  readonly attributes?: SpanAttributes;
  /** The code of what went wrong, such as `ERR_DEADLINE`. */
  readonly error?: string | undefined;
  /** Default: now. */
  readonly endedAtMs?: number;
}

export interface Span {
  /** For whoever is asked in this span; undefined when nothing is told and nobody asked. */
  readonly traceparent: string | undefined;
  /** Once; later ends change nothing. */
  end(end?: SpanEnd): void;
}

/** Counters and their labels. Each label has few values: never an id, a tenant, a text. */
export interface Counters {
  readonly runs: { readonly level: string; readonly result: string };
  readonly steps: { readonly level: string; readonly status: string };
  readonly refusals: { readonly boundary: string; readonly code: string };
  readonly tool_calls: { readonly outcome: string };
  readonly http_requests: { readonly route: string; readonly method: string; readonly status: string };
  readonly log_lines: { readonly level: string };
}

/** Times in seconds. */
export interface Durations {
  readonly run_duration: { readonly level: string; readonly result: string };
  readonly step_duration: { readonly level: string; readonly status: string };
  readonly tool_call_duration: { readonly outcome: string };
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Telemetry extends AsyncDisposable {
  startSpan(name: string, options?: SpanOptions): Span;
  count<K extends keyof Counters>(counter: K, labels: Counters[K]): void;
  observe<K extends keyof Durations>(duration: K, seconds: number, labels: Durations[K]): void;
  /** One line; `attributes` are cut and cleaned of what authorises before they are written. */
  log(level: LogLevel, message: string, attributes?: Readonly<Record<string, unknown>>): void;
  /** What was counted, in the text format of Prometheus. */
  metrics(): string;
}
