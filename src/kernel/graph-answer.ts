/** The part of the context graph that says what the run answered and how it ended. INV-03. Source: DESIGN §5. */
import type { Claim } from '#contracts/claim.ts';
import type { EventBody, RunEvent } from '#contracts/event.ts';
import { digestOf } from './digest.ts';
import { failure } from './failure.ts';
import { nodeId } from './graph-node.ts';
import type { GraphFold } from './graph-plan.ts';
import { addEvidence } from './graph-step.ts';

type Event<K extends RunEvent['kind']> = Extract<RunEvent, { readonly kind: K }>;
type End =
  | 'run.blocked'
  | 'run.unblocked'
  | 'cancel.requested'
  | 'cancel.settled'
  | 'run.recovered'
  | 'answer.refused'
  | 'run.erased'
  | 'run.ended';

/** Claims with what supports each. A fact or an absence that nothing supports is a violation of INV-03. */
export function addAnswer({ draft, run }: GraphFold, { answer }: EventBody<'answer.composed'>): void {
  for (const item of answer.evidence) if (!draft.has(nodeId('evidence', item.evidenceId))) addEvidence(draft, item);
  for (const claim of answer.claims) {
    const id = draft.node({
      kind: 'claim',
      ref: claim.claimId,
      status: claim.kind,
      digest: digestOf(claim.text),
      detail: { key: claim.key, ...proofDetail(claim) },
    });
    draft.edge('PRODUCED', run, id);
    const known = claim.evidenceIds.map((one) => nodeId('evidence', one)).filter((one) => draft.has(one));
    for (const evidence of known) draft.edge('SUPPORTED_BY', id, evidence);
    if (known.length < claim.evidenceIds.length || (known.length === 0 && claim.kind !== 'inference'))
      draft.violation(
        failure('ERR_INVARIANT', `Claim ${claim.claimId} is a ${claim.kind} that its evidence does not support.`, {
          invariant: 'INV-03',
          claimId: claim.claimId,
        }),
      );
  }
  for (const { stepId } of answer.missingSteps) draft.edge('DEGRADED_BY', run, nodeId('step', stepId));
}

function proofDetail({ proof }: Claim): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(proof ?? {}).map(([name, value]) => [name, String(value)]));
}

/** Whatever stops, resumes or ends the run. */
export function addEnd({ draft, run }: GraphFold, event: Event<End>): void {
  const decision = (status: string, detail: Readonly<Record<string, string>>): string =>
    draft.node({ kind: 'decision', ref: String(event.seq), status, detail });
  switch (event.kind) {
    case 'run.blocked':
      draft.status(run, 'blocked');
      return draft.edge('BLOCKED_BY', run, decision('asked', { code: event.body.code, wants: event.body.wants }));
    case 'run.unblocked':
      draft.status(run, 'unblocked');
      return draft.edge('VALIDATED_BY', run, decision('answered', { code: event.body.code, by: event.body.by }));
    case 'cancel.requested':
      draft.status(run, 'cancelling');
      return draft.edge('CANCELLED_BY', run, decision('cancelled', { by: event.body.by }));
    case 'cancel.settled':
      for (const { stepId, taskId = '' } of event.body.unresolved)
        draft.edge('CANCELLED_BY', nodeId('step', stepId), decision('unresolved', { stepId, taskId }));
      return undefined;
    case 'run.recovered':
      return draft.edge('VALIDATED_BY', run, decision('recovered', { fence: String(event.body.fence) }));
    case 'answer.refused': {
      const { code, kind } = event.body.error;
      const error = draft.node({ kind: 'error', ref: String(event.seq), status: kind, detail: { code } });
      return draft.edge('BLOCKED_BY', run, error);
    }
    case 'run.erased': {
      const { tombstoneId, scope, by, artifacts } = event.body;
      const tomb = decision('erased', { tombstoneId, scope, by, artifactCount: String(artifacts.length) });
      return draft.edge('VALIDATED_BY', run, tomb);
    }
    case 'run.ended':
      return draft.status(run, event.body.result);
  }
}
