/**
 * Joins the findings of a release check into one, or says all that is wrong with the set. Pure. A finding that is stale, foreign or
 * doubled must never become a shift of traffic. Source: DESIGN §8.3.
 */
import { type Branch, BRANCHES, finding, type Finding } from './finding.ts';

export interface ExpectedFindings {
  readonly tenant: string;
  readonly requestId: string;
  readonly releaseId: string;
}

export type RefusalKind =
  | 'malformed'
  | 'missing'
  | 'duplicate'
  | 'unexpected'
  | 'wrong_tenant'
  | 'wrong_request'
  | 'wrong_release'
  | 'failed'
  | 'without_evidence';

export interface FindingRefusal {
  readonly kind: RefusalKind;
  /** As the finding calls itself; `?` when it has no readable name. */
  readonly branch: string;
  readonly message: string;
}

export type MergedFindings =
  | {
      readonly ok: true;
      readonly findings: Readonly<Record<Branch, Finding>>;
      readonly requiresApproval: boolean;
      /** Of all branches, sorted, each once. */
      readonly evidence: readonly string[];
    }
  | { readonly ok: false; readonly refusals: readonly FindingRefusal[] };

/** Exactly one finding per branch, of this tenant, request and release, passed, with evidence; otherwise every refusal there is. */
export function mergeFindings(delivered: readonly unknown[], expected: ExpectedFindings): MergedFindings {
  const refusals: FindingRefusal[] = [];
  const byBranch = new Map<string, Finding[]>();
  for (const value of delivered) {
    const parsed = finding.safeParse(value);
    if (!parsed.success) {
      refusals.push({ kind: 'malformed', branch: nameOf(value), message: 'A finding does not have the agreed form.' });
      continue;
    }
    byBranch.set(parsed.data.branch, [...(byBranch.get(parsed.data.branch) ?? []), parsed.data]);
  }
  for (const branch of BRANCHES) refusals.push(...coverage(branch, byBranch.get(branch)?.length ?? 0));
  for (const [branch, findings] of byBranch) {
    if (!isBranch(branch)) {
      refusals.push({ kind: 'unexpected', branch, message: `Nobody asked for a finding of the branch ${branch}.` });
      continue;
    }
    for (const each of findings) refusals.push(...contents(each, expected));
  }
  const [evaluation, health, policy] = BRANCHES.map((branch) => byBranch.get(branch)?.[0]);
  if (refusals.length > 0 || evaluation === undefined || health === undefined || policy === undefined)
    return { ok: false, refusals };
  const all = [evaluation, health, policy];
  return {
    ok: true,
    findings: { eval: evaluation, health, policy },
    requiresApproval: all.some(({ requires_approval }) => requires_approval),
    evidence: [...new Set(all.flatMap(({ evidence }) => evidence))].toSorted(),
  };
}

function isBranch(name: string): name is Branch {
  return BRANCHES.some((branch) => branch === name);
}

function nameOf(value: unknown): string {
  const name = typeof value === 'object' && value !== null && 'branch' in value ? value.branch : undefined;
  return typeof name === 'string' ? name.slice(0, 64) : '?';
}

function coverage(branch: Branch, count: number): readonly FindingRefusal[] {
  if (count === 1) return [];
  return count === 0
    ? [{ kind: 'missing', branch, message: `There is no finding of the branch ${branch}.` }]
    : [{ kind: 'duplicate', branch, message: `There are ${count} findings of the branch ${branch}, not one.` }];
}

function contents(found: Finding, expected: ExpectedFindings): readonly FindingRefusal[] {
  const { branch } = found;
  const say = (kind: RefusalKind, message: string): FindingRefusal => ({ kind, branch, message });
  return [
    ...(found.tenant === expected.tenant
      ? []
      : [say('wrong_tenant', `The finding of ${branch} is of tenant ${found.tenant}, not of ${expected.tenant}.`)]),
    ...(found.request_id === expected.requestId
      ? []
      : [
          say(
            'wrong_request',
            `The finding of ${branch} is for request ${found.request_id}, not ${expected.requestId}.`,
          ),
        ]),
    ...(found.release_id === expected.releaseId
      ? []
      : [
          say(
            'wrong_release',
            `The finding of ${branch} is for release ${found.release_id}, not ${expected.releaseId}.`,
          ),
        ]),
    ...(found.verdict === 'passed' ? [] : [say('failed', `The branch ${branch} failed: ${found.reason}`)]),
    ...(found.evidence.length > 0 ? [] : [say('without_evidence', `The finding of ${branch} cites no evidence.`)]),
  ];
}
