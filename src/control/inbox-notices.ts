/**
 * Tells inboxes what waits for a decision and what no longer does: after the commit, beside the run, which never waits for an inbox. What
 * was pending when this process began is told again under the same notice id. Source: DESIGN §3.10, `ports/inbox.ts`.
 */
import type { ApprovalRow } from '#contracts/approval.ts';
import { type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { ApprovalId, Tenant } from '#contracts/ids.ts';
import { approvalOfEvent } from '#kernel/approval-inbox.ts';
import type { Inbox, InboxNotice } from '#ports/inbox.ts';
import type { Store } from '#ports/store.ts';

export interface InboxNoticesOptions {
  readonly inboxes: readonly Inbox[];
  readonly store: Pick<Store, 'approval' | 'openRuns' | 'approvalList' | 'onCommit'>;
  /** Of the page, where approvals are shown; undefined: nothing is served. */
  readonly url: string | undefined;
  /** Told of each notice that an inbox did not take. */
  readonly onError: (error: ErrorRecord) => void;
}

const PENDING_COUNT_MAX = 1_000;
const NOTICES_AT_ONCE_MAX = 64;

/** Dispose it to stop: notices under way are aborted. */
export async function notifyInboxes(options: InboxNoticesOptions): Promise<AsyncDisposable> {
  const { store, inboxes } = options;
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const tell = (notice: InboxNotice): void => {
    if (underWay.size >= NOTICES_AT_ONCE_MAX * inboxes.length) return;
    for (const inbox of inboxes) {
      const sent: Promise<void> = notifyOne(options, { inbox, notice, signal: closing.signal }).finally(() =>
        underWay.delete(sent),
      );
      underWay.add(sent);
    }
  };
  const look = async (tenant: Tenant, approvalId: ApprovalId, occasion: InboxNotice['occasion']): Promise<void> => {
    const row = await store.approval(tenant, approvalId);
    if (row !== undefined) tell(noticeOf(row, occasion, options.url));
  };
  const stop = store.onCommit((events) => {
    for (const event of events) {
      const approvalId = approvalOfEvent(event);
      const occasion = occasionOf(event);
      if (approvalId === undefined || occasion === undefined) continue;
      look(event.tenant, approvalId, occasion).catch((error: unknown) => options.onError(unread(error)));
    }
  });
  const tenants = new Set((await store.openRuns('central', PENDING_COUNT_MAX)).map(({ ref }) => ref.tenant));
  for (const tenant of tenants)
    for (const row of await store.approvalList({ tenant, state: 'pending', limit: PENDING_COUNT_MAX }))
      tell(noticeOf(row, 'requested', options.url));
  return {
    async [Symbol.asyncDispose]() {
      stop();
      closing.abort();
      await Promise.allSettled(underWay);
    },
  };
}

async function notifyOne(
  { onError }: InboxNoticesOptions,
  by: { readonly inbox: Inbox; readonly notice: InboxNotice; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await by.inbox.notify(by.notice, by.signal);
  } catch (error) {
    if (!by.signal.aborted) onError(toErrorRecord(error, { code: 'ERR_SERVER_UNREACHABLE', at: by.inbox.name }));
  }
}

/** `requested` when somebody is asked; `closed` when nobody need decide any more. */
function occasionOf({ kind }: RunEvent): InboxNotice['occasion'] | undefined {
  if (kind === 'approval.requested') return 'requested';
  const closing = [
    'approval.granted',
    'approval.rejected',
    'approval.expired',
    'approval.staled',
    'approval.withdrawn',
  ];
  return closing.includes(kind) ? 'closed' : undefined;
}

function noticeOf(row: ApprovalRow, occasion: InboxNotice['occasion'], url: string | undefined): InboxNotice {
  const { approvalId, tenant, runId, proposal } = row;
  return {
    noticeId: `${approvalId}:${occasion}`,
    occasion,
    approvalId,
    tenant,
    runId,
    role: proposal.rule.role,
    title: proposal.view.title,
    actionDigest: proposal.actionDigest,
    requestedBy: proposal.action.requestedBy,
    expiresAt: proposal.expiresAt,
    url: url === undefined ? undefined : `${url}/runs/${runId}`,
  };
}

function unread(error: unknown): ErrorRecord {
  return toErrorRecord(error, { code: 'ERR_STORE', at: 'inbox' });
}
