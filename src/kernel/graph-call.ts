/** The part of the context graph that a program's calls are. Source: DESIGN §5, docs/decisions/0010. */
import type { EventBody, RunEvent } from '#contracts/event.ts';
import { nodeId } from './graph-node.ts';
import type { GraphFold } from './graph-plan.ts';
import { addEvidence } from './graph-step.ts';

export function addPermittedCall({ draft, run }: GraphFold, body: EventBody<'call.permitted'>): void {
  const { callId, tool, contractDigest, leaseId, resource, argumentsDigest } = body;
  const detail = { tool, resource, argumentsDigest, leaseId };
  const id = draft.node({ kind: 'tool', ref: callId, status: 'permitted', digest: contractDigest, detail });
  draft.edge('CALLED', run, id);
  draft.edge('AUTHORIZED_BY', id, draft.node({ kind: 'lease', ref: leaseId }));
}

export function addRefusedCall(
  { draft, run }: GraphFold,
  { body, seq }: Extract<RunEvent, { readonly kind: 'call.refused' }>,
): void {
  const { callId, tool, error } = body;
  const detail = { callId, tool, code: error.code };
  draft.edge('VALIDATED_BY', run, draft.node({ kind: 'decision', ref: String(seq), status: 'refused', detail }));
}

export function addSettledCall({ draft }: GraphFold, { call, evidence }: EventBody<'call.settled'>): void {
  const id = nodeId('tool', call.callId);
  draft.status(id, call.outcome);
  for (const item of evidence) draft.edge('PRODUCED', id, addEvidence(draft, item));
}
