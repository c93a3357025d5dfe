/**
 * The client's way to the wire: each call presents its own lease, found by a handle that the SDK carries through as a header. Answers
 * are bounded and read strictly before the SDK sees them, and error answers leave as our errors. Source: SEAMS "A2A", "Client".
 */
import { ARTIFACT_BYTES_MAX } from '#contracts/artifact.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { checkEvents } from './checked-events.ts';
import { readWireError, thrown } from './wire-error.ts';

/** Names the call to our fetch; never sent. */
export const CALL_HEADER = 'x-caseops-call';
/** A task's snapshot holds its artifact whole; the rest of it is small. */
const ANSWER_BYTES_MAX = ARTIFACT_BYTES_MAX + 1_048_576;

export interface LeasedFetch {
  readonly fetch: typeof fetch;
  /** A handle for one call; the lease is forgotten when it is disposed of. */
  readonly open: (lease: HeldLease) => { readonly handle: string } & Disposable;
}

/** No AsyncLocalStorage, no shared "current lease": two hundred calls at once cannot take each other's. */
export function createLeasedFetch(base: typeof fetch): LeasedFetch {
  const leases = new Map<string, HeldLease>();
  let count = 0;
  return {
    open: (lease) => {
      const handle = `c${(count += 1)}`;
      leases.set(handle, lease);
      return { handle, [Symbol.dispose]: () => void leases.delete(handle) };
    },
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      const lease = leases.get(headers.get(CALL_HEADER) ?? '');
      headers.delete(CALL_HEADER);
      if (lease === undefined) throw new CaseOpsError('ERR_LEASE', 'A call to a team has no lease.', { at: 'a2a' });
      const response = await request(base, { url: urlOf(input), headers, init, lease });
      return checkAnswer(response);
    },
  };
}

interface Outgoing {
  readonly url: string;
  readonly headers: Headers;
  readonly init: RequestInit | undefined;
  readonly lease: HeldLease;
}

async function request(base: typeof fetch, outgoing: Outgoing): Promise<Response> {
  const { url, headers, init, lease } = outgoing;
  const method = init?.method ?? 'GET';
  const body = typeof init?.body === 'string' ? init.body : undefined;
  if (body === undefined) headers.delete('content-type');
  headers.set('authorization', `DPoP ${lease.token}`);
  headers.set('dpop', lease.prove(method, url, body ?? ''));
  if (lease.traceparent !== undefined) headers.set('traceparent', lease.traceparent);
  try {
    // A redirect would carry the lease to another audience.
    return await base(url, { ...init, method, headers, redirect: 'error' });
  } catch (error) {
    if (init?.signal?.aborted === true) throw error;
    throw unreachable(url, error);
  }
}

async function checkAnswer(response: Response): Promise<Response> {
  const media = response.headers.get('content-type') ?? '';
  if (response.ok && media.startsWith('text/event-stream') && response.body !== null)
    return new Response(response.body.pipeThrough(checkEvents()), response);
  const text = await readBounded(response);
  const parsed = text === '' ? undefined : parseStrictJson(text, { bytesMax: ANSWER_BYTES_MAX });
  const value = parsed?.ok === true ? parsed.value : undefined;
  if (!response.ok || isRpcError(value)) throw thrown(readWireError(response.status, value, 'a2a'));
  if (parsed?.ok === false)
    throw new CaseOpsError('ERR_TEAM_FAILED', `The team's answer cannot be read: ${parsed.error.message}`, {
      at: 'a2a',
      retryable: false,
      detail: { code: parsed.error.code },
    });
  return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > ANSWER_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw unreachable(response.url, error);
  }
  if (size > ANSWER_BYTES_MAX)
    throw new CaseOpsError('ERR_TEAM_FAILED', `The team's answer is over ${ANSWER_BYTES_MAX} bytes.`, {
      at: 'a2a',
      retryable: false,
    });
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function unreachable(url: string, cause: unknown): CaseOpsError {
  const place = URL.canParse(url) ? new URL(url).host : 'the team';
  return new CaseOpsError('ERR_TEAM_UNREACHABLE', `The team at ${place} did not answer.`, { at: 'a2a', cause });
}

function isRpcError(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && 'error' in value;
}

function urlOf(input: string | URL | Request): string {
  return typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
}
