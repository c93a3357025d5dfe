/** The people of the kill campaign: they ask again under the same key until they are told a run's id, and approve what waits. */
import type { ApprovalRow } from '#contracts/approval.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { KillChildReady } from './kill-child.ts';

export const INQUIRY =
  'Find out why C-102 has not been completed and tell me what is missing. If the customer needs to be notified, generate a notification draft first; do not send it directly.';
export const NOTICE = 'Draft the notice for C-102 and send it after approval.';

export interface People {
  /** Of goals that were acknowledged: idempotency key → run. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Asks; keeps what is not acknowledged for the next deployment. */
  ask(key: string, text: string): void;
  /** Sends what is not acknowledged, and approves what waits, until `signal`. Whatever is not answered is asked again. */
  work(at: KillChildReady, signal: AbortSignal): Promise<void>;
  view(at: KillChildReady, runId: string): Promise<RunView | undefined>;
}

const PAUSE_MS = 200;
const WAIT_MS_MAX = 5_000;

export function createPeople(): People {
  const wanted = new Map<string, string>();
  const acknowledged = new Map<string, string>();
  const askAll = async (at: KillChildReady): Promise<void> => {
    await Promise.all(
      [...wanted].map(async ([key, text]) => {
        const view = await call<RunView>(at, '/runs', {
          as: 'requester',
          body: { text },
          headers: { 'idempotency-key': key },
        });
        if (view === undefined) return;
        acknowledged.set(key, view.runId);
        wanted.delete(key);
      }),
    );
  };
  const approveAll = async (at: KillChildReady): Promise<void> => {
    const rows = await call<readonly ApprovalRow[]>(at, '/approvals?state=pending&limit=100', { as: 'approver' });
    await Promise.all(
      (rows ?? []).map(({ approvalId, proposal }) =>
        call(at, `/approvals/${approvalId}/decision`, {
          as: 'approver',
          body: { disposition: 'approved', reason: null, channel: 'cli' },
          headers: { 'if-match': `"${proposal.actionDigest}"` },
        }),
      ),
    );
  };
  return {
    acknowledged,
    ask: (key, text) => void wanted.set(key, text),
    work: async (at, signal) => {
      while (!signal.aborted) {
        await Promise.all([askAll(at), approveAll(at)]);
        await pause(signal);
      }
    },
    view: (at, runId) => call<RunView>(at, `/runs/${runId}`, { as: 'requester' }),
  };
}

interface Call {
  readonly as: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Undefined when nobody answered, or the answer was a refusal. */
async function call<T>(at: KillChildReady, path: string, { as, body, headers }: Call): Promise<T | undefined> {
  const token = Object.entries(at.tokens).find(([account]) => account.startsWith(`${as}@`))?.[1] ?? '';
  try {
    const response = await fetch(`${at.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(WAIT_MS_MAX),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(PAUSE_MS)]);
  if (over.aborted) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  over.addEventListener('abort', () => resolve(undefined), { once: true });
  await promise;
}
