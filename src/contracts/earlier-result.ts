/**
 * A result of an earlier run of the same session, taken over by a later one: where it stands in that run's log, and what the kernel must
 * know of it to decide whether it may still be used. Source: DESIGN §3.1, decision 0020.
 */
import { z } from 'zod';
import { artifactId, type Digest, digest, runId, stepId, timestamp } from './ids.ts';
import type { StepResult } from './step-result.ts';

/** Where a result was first settled. The event is named with its hash, so that a changed log is another one. */
export const resultOrigin = z.strictObject({
  runId,
  stepId,
  planVersion: z.int().min(1),
  /** The event that settled the step there. */
  seq: z.int().min(1),
  hash: digest,
  artifactId,
  artifactRef: digest,
  resultHash: digest,
  /** Over the input that it was asked with: the same subject and entities. */
  inputDigest: digest,
  /** Over the whole skill contract that it was made under. */
  contractDigest: digest,
  /** Of its oldest observation. */
  observedAt: timestamp,
});
export type ResultOrigin = z.infer<typeof resultOrigin>;

/** An earlier step's result as control read it back: the log's chain verified, the artifact under its digest. */
export interface EarlierResult {
  readonly tenant: string;
  readonly requestedBy: string;
  readonly sessionId: string;
  readonly purpose: string;
  /** Of the step as it was planned there. */
  readonly actions: readonly string[];
  readonly team: string;
  readonly workload: string;
  readonly teamPolicyDigest: Digest | undefined;
  readonly result: StepResult;
  readonly origin: ResultOrigin;
}

/** What the person may do now. */
export interface PresentGrant {
  readonly sub: string;
  readonly tenant: string;
  readonly purposes: readonly string[];
  readonly actions: readonly string[];
}
