/** One process's worth of the notice case: the parts of an effect world with the drill's teams. */
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import type { Clock } from '#ports/clock.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { Ids } from '#ports/ids.ts';
import { createEffectWorld, type EffectWorld, type EffectWorldOptions } from '#runtime/effect-world.ts';
import { announcementOf, INQUIRY_KIND, INQUIRY_TEAMS } from '#testing/inquiry-case.ts';
import { NOTICE_KIND } from '#testing/notice-case.ts';
import { createScriptedTeam, type Finding } from '#testing/scripted-team.ts';
import { findNotice, REQUESTER } from './notice-teams.ts';

export interface NoticeWorldOptions extends Pick<
  EffectWorldOptions,
  'onPoint' | 'wrapStore' | 'wrapWriter' | 'onError'
> {
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly target: EffectTarget;
  readonly policy: ApprovalPolicy;
  /** Changes what a team says. */
  readonly tamper?: (finding: Finding) => Finding;
  readonly lockTtlMs?: number;
}

const LOCK_TTL_MS = 400;
const READ_BACK_BACKOFF_MS = 20;

export function openNoticeWorld(options: NoticeWorldOptions): EffectWorld {
  const { path, clock, ids, target, policy, onPoint, wrapStore, wrapWriter, onError, tamper } = options;
  return createEffectWorld({
    path,
    clock,
    ids,
    policy,
    targets: [target],
    kinds: [NOTICE_KIND, INQUIRY_KIND],
    announcements: INQUIRY_TEAMS.map(announcementOf),
    transport: (announcement, store) =>
      createScriptedTeam({
        announcement,
        clock,
        ids,
        store,
        find: (dispatch) => {
          const found = findNotice(dispatch);
          return found === undefined || tamper === undefined ? found : tamper(found);
        },
      }),
    grants: (subject, tenant) => (subject === REQUESTER.sub && tenant === REQUESTER.tenant ? REQUESTER : undefined),
    lockTtlMs: options.lockTtlMs ?? LOCK_TTL_MS,
    readBackCountMax: 3,
    readBackBackoffMs: READ_BACK_BACKOFF_MS,
    ...(onPoint === undefined ? {} : { onPoint }),
    ...(wrapStore === undefined ? {} : { wrapStore }),
    ...(wrapWriter === undefined ? {} : { wrapWriter }),
    ...(onError === undefined ? {} : { onError }),
  });
}
