/** The leases behind a claim: the tool's, inside the dispatch's, as the lease registry has them. INV-10. Source: LEASE "Narrowing". */
import type { LeaseRow } from '#contracts/lease.ts';
import type { WhyLink } from '#contracts/run-view.ts';
import type { GraphNode } from './graph-node.ts';

/** The tool's own lease first, when it has one, then that of the dispatch. */
export function leaseLinks(
  { rows }: { readonly rows: ReadonlyMap<string, LeaseRow> | undefined },
  { task, tool }: { readonly task: GraphNode | undefined; readonly tool: GraphNode | undefined },
): readonly WhyLink[] {
  const parentId = task?.detail['leaseId'];
  const childId = tool?.detail['leaseId'];
  const parent = parentId === undefined ? undefined : rows?.get(parentId);
  const fits = parent?.stepId === task?.detail['stepId'] && String(parent?.attempt) === task?.detail['attempt'];
  const own = ownLink(parentId, { rows, row: parent, fits });
  if (childId === undefined || childId === parentId) return [own];
  const child = rows?.get(childId);
  return [toolLeaseLink(childId, { rows, child, parent }), own];
}

/** The lease under which an effect was applied; a re-mint after recovery keeps its step. */
export function effectLease({ detail }: GraphNode, rows: ReadonlyMap<string, LeaseRow> | undefined): WhyLink {
  const leaseId = String(detail['leaseId']);
  const row = rows?.get(leaseId);
  return ownLink(leaseId, { rows, row, fits: row?.stepId === detail['stepId'] });
}

function ownLink(
  leaseId: string | undefined,
  by: {
    readonly rows: ReadonlyMap<string, LeaseRow> | undefined;
    readonly row: LeaseRow | undefined;
    readonly fits: boolean;
  },
): WhyLink {
  const { rows, row, fits } = by;
  return {
    kind: 'lease',
    ref: leaseId ?? 'none',
    note:
      row === undefined ? 'no row of the lease registry' : `${row.actions.join(', ')} on ${row.resources.join(', ')}`,
    verdict: rows === undefined ? 'not checked' : row !== undefined && fits ? 'Signed' : 'Broken',
    detail: rowDetail(row),
  };
}

function toolLeaseLink(
  leaseId: string,
  by: {
    readonly rows: ReadonlyMap<string, LeaseRow> | undefined;
    readonly child: LeaseRow | undefined;
    readonly parent: LeaseRow | undefined;
  },
): WhyLink {
  const { rows, child, parent } = by;
  const wider = child === undefined || parent === undefined ? ['no row'] : widerThan(child, parent);
  return {
    kind: 'lease',
    ref: leaseId,
    note:
      wider.length === 0
        ? `inside ${parent?.leaseId}`
        : `not inside ${parent?.leaseId ?? 'its parent'}: ${wider.join(', ')}`,
    verdict: rows === undefined ? 'not checked' : wider.length === 0 ? 'Inside parent' : 'Broken',
    detail: rowDetail(child),
  };
}

/** In which dimensions that the registry keeps a child is not inside its parent. */
function widerThan(child: LeaseRow, parent: LeaseRow): readonly string[] {
  const checks: readonly (readonly [dimension: string, inside: boolean])[] = [
    ['parent', child.parent === parent.leaseId],
    ['depth', child.depth === parent.depth + 1],
    ['tenant', child.tenant === parent.tenant],
    ['run', child.runId === parent.runId],
    ['step', child.stepId === parent.stepId && child.attempt === parent.attempt],
    ['subject', child.subject === parent.subject],
    ['purpose', child.purpose === parent.purpose],
    ['actions', child.actions.every((action) => parent.actions.includes(action))],
    ['resources', child.resources.every((resource) => parent.resources.includes(resource))],
    ['expiry', child.expiresAt <= parent.expiresAt],
  ];
  return checks.filter(([, inside]) => !inside).map(([dimension]) => dimension);
}

function rowDetail(row: LeaseRow | undefined): Readonly<Record<string, string>> {
  if (row === undefined) return {};
  const { subject, actor, audience, purpose, use, depth, actions, resources } = row;
  return {
    subject,
    actor,
    audience,
    purpose,
    use,
    depth: String(depth),
    actions: actions.join(' '),
    resources: resources.join(' '),
    issuedAt: String(row.issuedAt),
    expiresAt: String(row.expiresAt),
  };
}
