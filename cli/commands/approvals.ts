/** `caseops approvals ls|show|approve|reject|withdraw|repropose`: deciding is naming the digest of what was seen; no flag stands for that. */
import { type ApprovalRow, CaseOpsError } from 'caseops';
import { withServer } from '../local-server.ts';
import { type Format, show } from '../output.ts';
import { approvalLine, approvalText } from '../render-approval.ts';

interface Asking {
  readonly as: string;
  readonly output: Format;
}

interface Deciding extends Asking {
  readonly digest?: string;
  readonly reason?: string;
  readonly yes?: boolean;
}

const path = (id: string, rest = ''): string => `/approvals/${encodeURIComponent(id)}${rest}`;

export async function approvalsList(
  options: Asking & { readonly state?: string; readonly run?: string; readonly limit: number },
): Promise<number> {
  const query = new URLSearchParams({ limit: String(options.limit) });
  if (options.state !== undefined) query.set('state', options.state);
  if (options.run !== undefined) query.set('run', options.run);
  return withServer({ as: options.as, without: [] }, async (client) => {
    const rows = await client.get<readonly ApprovalRow[]>(`/approvals?${query.toString()}`);
    show(rows, options.output, () =>
      rows.length === 0 ? 'Nothing waits for approval.' : rows.map(approvalLine).join('\n'),
    );
    return 0;
  });
}

export async function approvalsShow(id: string, options: Asking): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const row = await client.get<ApprovalRow>(path(id));
    show(row, options.output, () => approvalText(row));
    return 0;
  });
}

export async function approvalsApprove(id: string, options: Deciding): Promise<number> {
  if (options.digest === undefined)
    throw usage(
      `Approving names the action: --digest sha256:… as \`caseops approvals show ${id}\` shows it. --yes never approves.`,
    );
  return decide(id, { ...options, disposition: 'approved' });
}

export async function approvalsReject(id: string, options: Deciding): Promise<number> {
  if ((options.reason ?? '').trim() === '')
    throw usage('A rejection needs --reason TEXT: the run ends with these words.');
  return decide(id, { ...options, disposition: 'rejected' });
}

export async function approvalsWithdraw(id: string, options: Asking & { readonly reason: string }): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const row = await client.post<ApprovalRow>(path(id, '/withdraw'), { reason: options.reason });
    show(row, options.output, () => approvalLine(row));
    return 0;
  });
}

export async function approvalsRepropose(id: string, options: Asking): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    const row = await client.post<ApprovalRow>(path(id, '/repropose'), {});
    show(row, options.output, () => approvalText(row));
    return 0;
  });
}

async function decide(
  id: string,
  options: Deciding & { readonly disposition: 'approved' | 'rejected' },
): Promise<number> {
  return withServer({ as: options.as, without: [] }, async (client) => {
    // A rejection applies nothing: it may be about whatever is pending.
    const digest = options.digest ?? (await client.get<ApprovalRow>(path(id))).proposal.actionDigest;
    const body = { disposition: options.disposition, reason: options.reason ?? null, channel: 'cli' };
    const row = await client.post<ApprovalRow>(path(id, '/decision'), body, { 'if-match': `"${digest}"` });
    show(row, options.output, () => approvalLine(row));
    return 0;
  });
}

function usage(message: string): CaseOpsError {
  return new CaseOpsError('ERR_USAGE', message, { at: 'cli' });
}
