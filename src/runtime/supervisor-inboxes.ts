/** The inboxes of a deployment's case, told of approvals beside the runs. Source: DESIGN §3.10. */
import { logFailure } from '#telemetry/log-failure.ts';
import { notifyInboxes } from '#control/inbox-notices.ts';
import type { Store } from '#ports/store.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { join } from 'node:path';
import type { CaseDefinition } from './define-case.ts';

import { systemClock } from './system-clock.ts';

export interface InboxPlace {
  readonly case: CaseDefinition;
  readonly directory: string;
  /** Of the page, where approvals are shown. */
  readonly url: string;
  readonly telemetry: Telemetry;
  /** Stops the notices and releases what the inboxes opened. */
  readonly stack: AsyncDisposableStack;
}

/** Nothing for a case without inboxes. A notice that was not taken is logged, and nothing waits for it. */
export async function openInboxes(place: InboxPlace, store: Store): Promise<void> {
  const load = place.case.inboxes;
  if (load === undefined) return;
  const { directory, stack, telemetry, url } = place;
  const open = await load();
  const inboxes = await open({
    directory: join(directory, 'effects'),
    teamDirectory: (team) => join(directory, 'teams', team),
    clock: systemClock,
    use: (resource) => stack.use(resource),
  });
  stack.use(await notifyInboxes({ inboxes, store, url, onError: (error) => logFailure(telemetry, error, {}) }));
}
