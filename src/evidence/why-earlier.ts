/**
 * The link from a step that took over an earlier run's result to that run's own record: its log verified from the first event, the event that
 * settled the result still the one that was relied on, the person the same. Decision 0020; INV-11, INV-14.
 */
import type { ResultOrigin } from '#contracts/earlier-result.ts';
import type { WhyLink } from '#contracts/run-view.ts';
import type { RunRecord } from './run-record.ts';
import { broken, link } from './why-link.ts';

/** `earlier` is the other run as the store has it now; undefined when it has none. */
export function earlierLink(record: RunRecord, origin: ResultOrigin, earlier: RunRecord | undefined): WhyLink {
  const ref = `${origin.runId}/${origin.stepId}`;
  const detail = {
    runId: origin.runId,
    stepId: origin.stepId,
    event: String(origin.seq),
    hash: origin.hash,
    observedAt: origin.observedAt,
    artifactRef: origin.artifactRef,
    resultHash: origin.resultHash,
    contractDigest: origin.contractDigest,
  };
  const why = faultOf(record, origin, earlier);
  if (why !== undefined) return broken('earlier_run', ref, { why, detail });
  return link('earlier_run', ref, {
    note: `settled by event ${origin.seq} of ${origin.runId}, observed at ${origin.observedAt}; nothing was called again`,
    verdict: 'Known',
    detail,
  });
}

function faultOf(record: RunRecord, origin: ResultOrigin, earlier: RunRecord | undefined): string | undefined {
  if (earlier === undefined) return `There is no run ${origin.runId} that it was taken from.`;
  if (earlier.chainFault !== undefined) return `The log of ${origin.runId} does not verify: ${earlier.chainFault}.`;
  const settled = earlier.events[origin.seq - 1];
  if (settled?.kind !== 'step.settled' || settled.hash !== origin.hash)
    return `Event ${origin.seq} of ${origin.runId} is not the one that was relied on.`;
  const { result } = settled.body;
  const same =
    result.stepId === origin.stepId &&
    result.resultHash === origin.resultHash &&
    result.artifactRef === origin.artifactRef;
  if (!same) return `Step ${origin.stepId} of ${origin.runId} has another result than was taken over.`;
  if (earlier.state.goal?.requestedBy !== record.state.goal?.requestedBy)
    return `${origin.runId} was asked for by somebody else.`;
  return undefined;
}
