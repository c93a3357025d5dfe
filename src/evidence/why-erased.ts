/** The one link that is left of what was erased: which tombstone took it, when, by which rule or request, by whom. Not a broken link. */
import type { Tombstone } from '#contracts/erasure.ts';
import type { WhyLink, WhyView } from '#contracts/run-view.ts';
import type { RunId } from '#contracts/ids.ts';
import { link } from './why-link.ts';

export function erasedLink(kind: WhyLink['kind'], ref: string, tombstone: Tombstone): WhyLink {
  const { tombstoneId, scope, cause, by, at } = tombstone;
  const why =
    cause.kind === 'policy'
      ? `by the retention policy after ${cause.olderThanDays} days`
      : 'on the request of who it is about';
  return link(kind, ref, {
    note: `erased at ${at} ${why}, by ${by}; tombstone ${tombstoneId}`,
    verdict: 'Erased',
    detail: {
      tombstoneId,
      scope,
      ...(cause.kind === 'policy' ? { policyDigest: cause.policyDigest } : { subjectDigest: cause.subjectDigest }),
    },
  });
}

/** What can still be said of the sentences of a run that was erased whole: that they were, and why they are no more. */
export function erasedClaims(runId: RunId, tombstone: Tombstone, claim: string | undefined): readonly WhyView[] {
  return tombstone.claims
    .filter(({ claimId, key }) => claim === undefined || claim === claimId || claim === key)
    .map(({ claimId, key }) => ({
      runId,
      claimId,
      key,
      text: '[erased]',
      holds: false,
      linkCount: 1,
      brokenCount: 0,
      erasedCount: 1,
      branches: [{ anchor: tombstone.tombstoneId, links: [erasedLink('claim', claimId, tombstone)] }],
    }));
}
