/** The command line as a client of the HTTP API. */
import { CaseOpsError, ERROR_CODES, type ErrorCode, type RunView } from 'caseops';

export interface ApiClient {
  readonly url: string;
  readonly get: <T>(path: string) => Promise<T>;
  readonly post: <T>(path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<T>;
  /** The run's events from `after` on; ends with the run. */
  readonly events: (runId: string, after: number, signal: AbortSignal) => AsyncIterable<StreamedEvent>;
}

export interface StreamedEvent {
  readonly seq: number;
  readonly kind: string;
  readonly at: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export function createClient(url: string, token: string): ApiClient {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(`${url}/api/v1${path}`, init);
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      throw new CaseOpsError(
        'ERR_SERVER_UNREACHABLE',
        `No CaseOps server answers at ${url}. Start one with: caseops serve`,
        { at: 'cli', cause },
      );
    }
    if (!response.ok) throw await refusal(response);
    return response;
  };
  return {
    url,
    get: async <T>(path: string) => (await (await send(path, { headers })).json()) as T,
    post: async <T>(path: string, body: unknown, more: Readonly<Record<string, string>> = {}) =>
      (await (
        await send(path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
      ).json()) as T,
    events: (runId, after, signal) =>
      readEvents(send(`/runs/${encodeURIComponent(runId)}/events?after=${after}`, { headers, signal })),
  };
}

async function refusal(response: Response): Promise<CaseOpsError> {
  const text = await response.text();
  let problem: { code?: string; detail?: string } = {};
  try {
    problem = JSON.parse(text) as typeof problem;
  } catch {
    // Not a problem document: the status line has to do.
  }
  const code =
    problem.code !== undefined && Object.hasOwn(ERROR_CODES, problem.code)
      ? (problem.code as ErrorCode)
      : 'ERR_SERVER_UNREACHABLE';
  return new CaseOpsError(code, problem.detail ?? `The server answered ${response.status} ${response.statusText}.`, {
    at: 'cli',
  });
}

async function* readEvents(opening: Promise<Response>): AsyncGenerator<StreamedEvent> {
  const { body } = await opening;
  if (body === null) return;
  let buffer = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk;
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const frame = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      if (/^event: end$/m.test(frame)) return;
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield JSON.parse(data) as StreamedEvent;
    }
  }
}

/** Splits `run_x#status` into run and claim. */
export function runAndClaim(reference: string): { readonly runId: string; readonly claim: string | undefined } {
  const [runId = '', claim] = reference.split('#');
  return { runId, claim: claim === undefined || claim === '' ? undefined : claim };
}

export function viewOf(client: ApiClient, runId: string): Promise<RunView> {
  return client.get<RunView>(`/runs/${encodeURIComponent(runId)}`);
}
