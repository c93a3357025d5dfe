/** A ticket of a service desk over HTTP: what the HTTP target's tests and its child process write. */
import type { Clock } from '#ports/clock.ts';
import { OWNER_PATHS } from '#testing/effect-owner.ts';
import { z } from 'zod';
import { createHttpTarget, type HttpTargetOptions } from './http-target.ts';

export function ticketTarget(origin: string, clock: Clock, overrides: Partial<HttpTargetOptions> = {}) {
  return createHttpTarget({
    name: 'service-desk',
    action: 'tickets:update',
    resourceType: 'ticket',
    evidenceType: 'ticket-change',
    parameters: z.strictObject({
      state: z.enum(['open', 'closed']),
      comment: z.string().max(1_000).default(''),
      summary: z.string().max(200).optional(),
    }),
    presentational: ['summary'],
    origin,
    paths: OWNER_PATHS,
    data: ({ reference, resource_id, version }) => ({ reference, ticket: resource_id, version }),
    contract: { authoritativeAbsence: true, notAppliedStatuses: [] },
    timeoutMs: 2_000,
    clock,
    ...overrides,
  });
}
