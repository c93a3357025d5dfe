/**
 * What every request passes before the SDK sees it, in this order: size → lease and proof → audience → extension → version → media
 * type → strict JSON → operation → authorisation → admission. Source: LEASE "Checking"; PROTOCOLS "Before the SDK".
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  JsonRpcRequestMalformedError,
  RequestMalformedError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import type { Request, RequestHandler, Response } from 'express';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import type { Authenticated, Checked, Guard, Refusal } from '#ports/guard.ts';
import type { TeamDoor } from '#ports/team-door.ts';
import type { Span, Telemetry } from '#ports/telemetry.ts';
import { admit } from './admission.ts';
import type { Operation, ReadOperation } from './operation.ts';
import { A2A_VERSION } from './protocol-version.ts';
import { readRestOperation } from './rest-operation.ts';
import { readRpcOperation } from './rpc-operation.ts';
import { numberFrames } from './sse-ids.ts';
import { AuthorizedCaller, taskCallerOf } from './task-caller.ts';
import { answerOf, type Binding, type HttpAnswer, maskError } from './wire-error.ts';

const ABSENT_VERSION = '0.3';
/** JSON-RPC 2.0 §5.1 "Invalid Request". */
const RPC_INVALID_REQUEST = -32_600;

export interface GateOptions {
  readonly door: TeamDoor;
  readonly guard: Guard;
  readonly binding: Binding;
  /** The interface's base URL: the audience of its leases, and where its proofs are aimed. */
  readonly audience: string;
  /** How the guard's refusals look in HTTP, the same on both bindings. */
  readonly refuse: (refusal: Refusal) => ProblemAnswer;
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  readonly telemetry?: Telemetry | undefined;
  /** `continue` the trace of an authenticated caller (default), or begin a `new` one that links to it: for a caller of another house. */
  readonly traces?: 'continue' | 'new' | undefined;
}

/** A guard's refusal in HTTP: problem+json with status and challenge. */
export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Requests that passed carry their AuthorizedCaller; the SDK's userBuilder hands it on. */
const callers = new WeakMap<Request, AuthorizedCaller>();

export function callerOfRequest(request: Request): AuthorizedCaller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('The request did not pass the gate.');
  return caller;
}

export function createGate(options: GateOptions): RequestHandler {
  return async (request, response, next) => {
    let passed = false;
    try {
      passed = await pass(options, request, response);
    } catch (error) {
      send(response, answerOf(maskError(error, options.binding), options.binding));
    }
    if (passed) next();
  };
}

/** True when the request may go on; otherwise it has been answered. */
async function pass(options: GateOptions, request: Request, response: Response): Promise<boolean> {
  const { binding } = options;
  const bytes = await readBody(request, options.bodyBytesMax);
  if (bytes === undefined) {
    response.setHeader('connection', 'close');
    return send(response, answerOf(tooLarge(options), binding, { status: 413 }));
  }
  const authenticated = authenticate(options, request, bytes);
  if (authenticated.outcome !== 'permit') return send(response, problemOf(options.refuse(authenticated)));
  const headersRefused = headerError(options, request, bytes);
  if (headersRefused !== undefined)
    return send(response, answerOf(headersRefused, binding, { rpcId: rpcIdOf(bytes, options) }));
  const read = readOperation(options, request, bytes);
  if (!read.ok) {
    const status = read.status === undefined ? {} : { status: read.status };
    return send(response, answerOf(read.error, binding, { rpcId: read.rpcId, ...status }));
  }
  const asked = single(request.headers, 'traceparent');
  const span = startSpan(options, { asked, response, authenticated: authenticated.value, operation: read.operation });
  const traceparent = span === undefined ? asked : span.traceparent;
  const admission = await admit({ ...options, traceparent }, authenticated.value, read.operation);
  if (admission.outcome === 'refused') return send(response, problemOf(options.refuse(admission.refusal)));
  if (admission.outcome === 'error') return send(response, answerOf(admission.error, binding, { rpcId: read.rpcId }));
  const caller = new AuthorizedCaller({
    who: taskCallerOf(authenticated.value),
    operation: read.operation,
    task: admission.task,
    signal: lifeOf(options, response, authenticated.value),
  });
  forward(request, read, caller);
  numberFrames(response, caller);
  return true;
}

interface Asked {
  /** The trace that the caller names: looked at only once the caller is known. */
  readonly asked: string | undefined;
  readonly response: Response;
  readonly authenticated: Authenticated;
  readonly operation: Operation;
}

/** One server span per operation, as long as its answer. */
function startSpan({ telemetry, traces, door }: GateOptions, by: Asked): Span | undefined {
  const { asked, response, authenticated, operation } = by;
  const { lease } = authenticated;
  const dispatch = operation.kind === 'send' ? operation.message.dispatch : undefined;
  const span = telemetry?.startSpan(`a2a ${operation.kind}`, {
    ...(traces === 'new' ? { links: asked === undefined ? [] : [asked] } : { parent: asked }),
    kind: 'server',
    attributes: {
      tenant: lease.tenant,
      leaseId: lease.jti,
      agentName: door.team.name,
      runId: dispatch?.runId,
      goalId: dispatch?.goalId,
      planId: dispatch?.planId,
      planVersion: dispatch?.planVersion,
      stepId: dispatch?.stepId,
      dispatchId: dispatch?.dispatchId,
      skillId: dispatch?.skillId,
    },
  });
  response.once('close', () => {
    const { statusCode } = response;
    span?.end({ attributes: { httpStatus: statusCode }, error: statusCode >= 400 ? `${statusCode}` : undefined });
  });
  return span;
}

/** The sender's fault, in the words of either binding: never an internal error. */
function tooLarge({ binding, bodyBytesMax }: GateOptions): Error {
  const message = `Expected a body of at most ${bodyBytesMax} bytes, got more.`;
  return binding === 'JSONRPC'
    ? new JsonRpcRequestMalformedError({ envelopeCode: RPC_INVALID_REQUEST, message })
    : new RequestMalformedError(message);
}

function authenticate(options: GateOptions, request: Request, body: Uint8Array): Checked<Authenticated> {
  return options.guard.authenticate({
    authorization: request.headers.authorization,
    proof: single(request.headers, 'dpop'),
    method: request.method,
    // As configured; query and fragment are not part of a proof's target (RFC 9449 §4.2).
    target: options.audience + (request.path === '/' ? '' : request.path),
    body,
  });
}

/** Extension and version are asked of every operation, not only of sends. */
function headerError(options: GateOptions, request: Request, bytes: Uint8Array): Error | undefined {
  const { headers } = request;
  const extensions = (single(headers, 'a2a-extensions') ?? '').split(',').map((uri) => uri.trim());
  if (!extensions.includes(LEASE_EXTENSION))
    return new ExtensionSupportRequiredError({
      message: `Activate ${LEASE_EXTENSION} by the A2A-Extensions header.`,
      metadata: { uri: LEASE_EXTENSION },
    });
  const version = requestedVersion(request);
  if (version !== A2A_VERSION)
    return new VersionNotSupportedError(`A2A version ${A2A_VERSION} is spoken here; ${version} was asked.`);
  const media = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const accepted = options.binding === 'JSONRPC' ? ['application/json'] : ['application/json', 'application/a2a+json'];
  if (bytes.byteLength > 0 && !accepted.includes(media))
    return new ContentTypeNotSupportedError(`A body must be ${accepted.join(' or ')}.`);
  return undefined;
}

/** Major.Minor: a patch number does not matter; the header wins over the query; absent means 0.3. */
function requestedVersion(request: Request): string {
  const mark = request.url.indexOf('?');
  const query = mark < 0 ? undefined : new URLSearchParams(request.url.slice(mark + 1)).get('A2A-Version');
  const asked = (single(request.headers, 'a2a-version') ?? '') || (query ?? '') || ABSENT_VERSION;
  return /^(\d{1,4}\.\d{1,4})\.\d{1,4}$/.exec(asked)?.[1] ?? asked.slice(0, 32);
}

function readOperation(options: GateOptions, request: Request, bytes: Uint8Array): ReadOperation {
  const lastEventId = single(request.headers, 'last-event-id');
  const parsed = bytes.byteLength === 0 ? undefined : parseStrictJson(bytes, { bytesMax: options.bodyBytesMax });
  if (parsed !== undefined && !parsed.ok) {
    const { message } = parsed.error;
    const rpc = options.binding === 'JSONRPC';
    const error = rpc
      ? new JsonRpcRequestMalformedError({ envelopeCode: -32700, message })
      : new RequestMalformedError(message);
    return { ok: false, error, rpcId: null };
  }
  const body = parsed?.value;
  if (options.binding === 'HTTP+JSON')
    return readRestOperation({ method: request.method, url: request.url, body, lastEventId });
  if (request.path !== '/')
    return { ok: false, error: new Error('There is no operation here.'), rpcId: null, status: 404 };
  if (request.method !== 'POST') return { ok: false, error: new Error('JSON-RPC is POST.'), rpcId: null, status: 405 };
  return readRpcOperation(body, lastEventId);
}

/** The SDK reads what was written anew; lease and proof do not reach it. */
function forward(request: Request, read: Extract<ReadOperation, { ok: true }>, caller: AuthorizedCaller): void {
  request.url = read.url;
  request.body = read.body;
  request.headers['a2a-version'] = A2A_VERSION;
  delete request.headers.authorization;
  delete request.headers['dpop'];
  callers.set(request, caller);
}

/** A stream lives as long as its connection, its server and its lease. */
function lifeOf(options: GateOptions, response: Response, authenticated: Authenticated): AbortSignal {
  const gone = new AbortController();
  const disarm = options.clock.at(authenticated.lease.exp * 1_000, () => gone.abort());
  response.once('close', () => {
    disarm();
    gone.abort();
  });
  return AbortSignal.any([gone.signal, options.stopping]);
}

async function readBody(request: Request, bytesMax: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Not destroyed on an early return: the refusal still has to be written on this connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > bytesMax) {
      request.resume();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function rpcIdOf(bytes: Uint8Array, options: GateOptions): string | number | null {
  if (options.binding !== 'JSONRPC') return null;
  const parsed = parseStrictJson(bytes, { bytesMax: options.bodyBytesMax });
  return parsed.ok ? readRpcOperation(parsed.value, undefined).rpcId : null;
}

/** A header given twice is no header: two readers would take different ones. */
function single(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function problemOf(problem: ProblemAnswer): HttpAnswer {
  return { ...problem, body: JSON.stringify(problem.body) };
}

function send(response: Response, answer: HttpAnswer): false {
  response.status(answer.status);
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  response.end(answer.body);
  return false;
}
