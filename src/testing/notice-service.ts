/** Sends a notice through somebody's HTTP service: the effect target of drills and campaigns. */
import { createHttpTarget } from '#effects/targets/http-target.ts';
import type { Clock } from '#ports/clock.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import { z } from 'zod';
import { OWNER_PATHS } from './effect-owner.ts';

/** `origin`: of an `EffectOwner`. */
export function noticeService(origin: string, clock: Clock): EffectTarget {
  return createHttpTarget({
    name: 'notice-service',
    action: 'notify:send',
    resourceType: 'notice-draft',
    evidenceType: 'sent-notice',
    parameters: z.strictObject({ notice_draft: z.string().max(64), channel: z.enum(['mail', 'post']).default('mail') }),
    presentational: [],
    origin,
    paths: OWNER_PATHS,
    data: ({ reference }) => ({ notice_sent: reference }),
    contract: { authoritativeAbsence: true, notAppliedStatuses: [] },
    timeoutMs: 1_500,
    clock,
  });
}
