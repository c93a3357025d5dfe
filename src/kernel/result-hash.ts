/** The identity of a step's result, by which a repeated one is told from a contradicting one. Source: DESIGN §3.7. */
import type { Evidence } from '#contracts/evidence.ts';
import type { Digest } from '#contracts/ids.ts';
import type { StepStatus } from '#contracts/step-result.ts';
import { digestOf } from './digest.ts';

export interface ResultParts {
  readonly status: StepStatus;
  readonly data: unknown;
  readonly evidence: readonly Evidence[];
  readonly missing: readonly string[];
  /** Version of the skill contract under which it was made. */
  readonly contractVersion: string;
}

/**
 * Over status, data, evidence identity (source, anchor, version, digest; in any order, repeated ones once), missing and contract
 * version; not over times, ids or the attempt. So a retry that found the same has the same hash.
 */
export function resultHash(parts: ResultParts): Digest {
  const { status, data, missing, contractVersion } = parts;
  const evidence = [
    ...new Set(parts.evidence.map((e) => JSON.stringify([e.source, e.anchor, e.version, e.digest]))),
  ].sort();
  return digestOf({ status, ...(data === undefined ? {} : { data }), evidence, missing, contractVersion });
}
