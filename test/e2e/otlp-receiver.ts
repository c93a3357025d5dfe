/** A loopback OTLP/HTTP receiver: keeps the exact bodies, and reads the spans out of them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly error: boolean;
  readonly service: string;
  readonly instance: string;
  readonly processId: number;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  /** As they came, decoded to text. */
  readonly bodies: readonly string[];
  /** Request headers, one record a body. */
  readonly headers: readonly Readonly<Record<string, unknown>>[];
  readonly spans: () => readonly ReceivedSpan[];
}

interface WireValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly WireValue[] };
}
interface WireAttribute {
  readonly key: string;
  readonly value: WireValue;
}
interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes?: readonly WireAttribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}
interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export async function receiveOtlp(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      headers.push({ ...request.headers, path: request.url });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    spans: () => bodies.flatMap((body) => spansOf(JSON.parse(body) as WireBody)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function spansOf({ resourceSpans }: WireBody): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const of = attributesOf(resource.attributes);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span): ReceivedSpan => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        attributes: attributesOf(span.attributes ?? []),
        links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
        error: span.status?.code === 2,
        service: String(of['service.name']),
        instance: String(of['service.instance.id']),
        processId: Number(of['process.pid']),
      })),
    );
  });
}

function attributesOf(attributes: readonly WireAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: WireValue): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plain);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
