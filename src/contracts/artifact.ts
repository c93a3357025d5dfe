/** The typed deliverable of a team: data, evidence, the observed records, and how they were obtained. Source: DESIGN §3.6. */
import { z } from 'zod';
import { errorRecord } from './error.ts';
import { evidence, toolCall } from './evidence.ts';
import { artifactId, digest, dispatchId, name, semver, stepId, timestamp } from './ids.ts';
import { stepStatus } from './step-result.ts';

export const ARTIFACT_VERSION = '1.0.0';
/** The media type of the envelope on the wire. */
export const ARTIFACT_MEDIA_TYPE = 'application/vnd.caseops.artifact+json';
/** An artifact's bytes, whole; beyond it ERR_ARTIFACT_SIZE, whoever sends or stores it. 32 MiB. */
export const ARTIFACT_BYTES_MAX = 33_554_432;
/** Above it an artifact goes by digest only: neither a run's events nor its database hold its bytes. 256 kB. */
export const ARTIFACT_RECORD_BYTES_MAX = 262_144;

export const artifact = z.strictObject({
  contractVersion: z.literal(ARTIFACT_VERSION),
  artifactId,
  /** What it answers: the consumer compares each with what it sent. */
  binding: z.strictObject({
    dispatchId,
    stepId,
    planVersion: z.int().min(1),
    attempt: z.int().min(1),
    taskId: z.string().min(1).max(128),
    contextId: z.string().min(1).max(128),
    leaseId: z.string().min(1).max(80),
  }),
  producer: z.strictObject({ team: name, workload: z.string().max(256), worker: name }),
  skillId: name,
  skillVersion: semver,
  schemaId: z.string().max(256),
  schemaVersion: semver,
  status: stepStatus,
  /** Absent for no_data, blocked and failed. */
  data: z.json().optional(),
  evidence: z.array(evidence).max(1_000),
  /** evidenceId → the record as observed; its digest is the evidence's. Slots point into these. */
  records: z.record(z.string(), z.json()),
  toolCalls: z.array(toolCall).max(1_000),
  missing: z.array(z.string().max(500)).max(100),
  errors: z.array(errorRecord).max(100),
  producedAt: timestamp,
  /** Over everything but this field, RFC 8785. */
  contentDigest: digest,
});
export type Artifact = z.infer<typeof artifact>;

/** Acceptance of an artifact: our verdict over the producer's statement. */
export const acceptance = z.discriminatedUnion('verdict', [
  z.strictObject({ verdict: z.literal('accepted') }),
  z.strictObject({ verdict: z.literal('rejected'), error: errorRecord }),
  z.strictObject({ verdict: z.literal('quarantined'), error: errorRecord }),
]);
export type Acceptance = z.infer<typeof acceptance>;
