/** A session groups a user's turns; a run belongs to one. Source: DESIGN §3.1. */
import { z } from 'zod';
import { runId, sessionId, tenant, timestamp } from './ids.ts';

export const session = z.strictObject({
  sessionId,
  tenant,
  /** The authenticated subject, such as `requester@t9`. */
  user: z.string().min(1).max(256),
  turns: z.array(z.strictObject({ runId, at: timestamp })).max(1_000),
});
export type Session = z.infer<typeof session>;
