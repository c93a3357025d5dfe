/**
 * The goal contract: what is asked, frozen with its prohibitions. It changes only by an explicit revision event.
 * Source: DESIGN §3.1, §4 (owner: intake).
 */
import { z } from 'zod';
import { budget } from './budget.ts';
import { claimTemplate } from './claim.ts';
import { action, goalId, name, semver, sessionId, tenant, timestamp } from './ids.ts';

export const GOAL_VERSION = '1.0.0';

/** The constraint of a goal whose asker wants everything looked up again: nothing of an earlier run settles its steps. */
export const FRESH_EVIDENCE = 'fresh-evidence';

const entity = z.union([z.string().min(1).max(256), z.array(z.string().min(1).max(256)).min(1).max(64)]);

/** An output the goal asks for; the run needs the required ones and degrades without the others. */
export const requestedOutput = z.strictObject({
  kind: name,
  required: z.boolean(),
  /** An entity with several values asks for this output once per value (the portfolio of claims). */
  forEach: name.optional(),
});

export const goalContract = z.strictObject({
  contractVersion: z.literal(GOAL_VERSION),
  goalId,
  revision: z.int().min(1),
  tenant,
  /** The person on whose behalf everything is done. */
  requestedBy: z.string().min(1).max(256),
  sessionId,
  kind: name,
  kindVersion: semver,
  purpose: name,
  subject: z.strictObject({ type: name, ids: z.array(z.string().min(1).max(256)).max(64) }),
  /** Named values the plan may use as inputs, by kind: `{ claim_id: 'C-102' }`. */
  entities: z.record(name, entity),
  requestedOutputs: z.array(requestedOutput).min(1).max(32),
  /** Actions that no step, lease, tool or effect of this run may contain. */
  prohibitedActions: z.array(action).max(64),
  constraints: z.array(name).max(32),
  evidencePolicy: z.strictObject({
    factsNeedEvidence: z.literal(true),
    /** Observations older than this at composition are stale; 0 = no bound. */
    observationAgeMsMax: z.int().min(0),
  }),
  claims: z.array(claimTemplate).max(64),
  budget,
  /** Absolute; never moves. */
  deadlineAt: timestamp.optional(),
  asOf: timestamp.optional(),
  /** How it was asked: not part of the goal's digest, so that the same goal in two languages has one digest. */
  statement: z.strictObject({ text: z.string().max(20_000), language: z.string().regex(/^[a-z]{2}$/) }),
});
export type GoalContract = z.infer<typeof goalContract>;
