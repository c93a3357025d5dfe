/** The digest of a goal: what is asked, apart from how and where it was asked. Source: DESIGN §3.1. */
import type { GoalContract } from '#contracts/goal.ts';
import type { Digest } from '#contracts/ids.ts';
import { digestOf } from './digest.ts';

/**
 * Over the goal's RFC 8785 form without `goalId`, `sessionId` and `statement`, so that the same goal asked in two languages or
 * in two sessions has one digest. Who asks and for which tenant stays in it: the same words of another person are another goal.
 */
export function goalDigest(goal: GoalContract): Digest {
  const { goalId: _goalId, sessionId: _sessionId, statement: _statement, ...asked } = goal;
  return digestOf(asked);
}
