/** The approval policy as a table by action. Whoever changes a row changes its digest, and every open approval goes stale. DESIGN §3.10. */
import { digestOf } from '#kernel/digest.ts';
import type { ApprovalPolicy } from '#ports/approval-policy.ts';

export interface ApprovalRow {
  /** `notify:send`. */
  readonly action: string;
  readonly role: string;
  /** Different persons who must approve; 1 when left out. At least 2 where a step asks for a quorum. */
  readonly quorumCount?: number;
  readonly expiresInMs?: number;
  /** The policy itself approves this action where a step lets it, for this reason. Low risk only. */
  readonly policyApproves?: string;
}

/** An action without a row is decided by one person in this role. */
const ROLE = 'approver';
const EXPIRES_IN_MS = 60 * 60_000;
const QUORUM_COUNT = 2;

export function createApprovalPolicy(name: string, rows: readonly ApprovalRow[]): ApprovalPolicy {
  const byAction = new Map(rows.map((row) => [row.action, row]));
  const roleOf = (action: string): string => byAction.get(action)?.role ?? ROLE;
  return {
    name,
    digest: digestOf({ name, rows: rows.map((row) => ({ ...row })) }),
    reviewerRole: roleOf,
    terms: ({ action }, approval) => {
      const row = byAction.get(action);
      const wanted = row?.quorumCount ?? 1;
      return {
        role: roleOf(action),
        quorumCount: approval === 'quorum' ? Math.max(QUORUM_COUNT, wanted) : wanted,
        expiresInMs: row?.expiresInMs ?? EXPIRES_IN_MS,
        approves: row?.policyApproves,
      };
    },
  };
}
