/**
 * A question that follows from an earlier one of the same session: “and what is missing?” means the same claim. Only what the earlier
 * goal names is taken, only where the text names nothing of the kind, and everything is read and observed again. Source: DESIGN §3.1.
 */
import type { Intake } from '#contracts/command.ts';
import type { SessionId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Store } from '#ports/store.ts';

type Read = Intake & { readonly language: string };

/** Runs of the tenant looked through for the session's last one. */
const LOOKED_COUNT_MAX = 100;
/** One question an entity; a kind has far fewer. */
const ENTITY_COUNT_MAX = 8;
/** `run.received` and `goal.frozen` are among the first events; between them, at most one question and its answer. */
const OPENING_EVENT_COUNT = 8;

/**
 * Reads with `read`, and as long as the text lacks an entity that the person's last goal in this session had, reads again with that.
 * `read` is given the values to assume, by entity kind. A text that names one of its own keeps it.
 */
export async function readFollowing(
  store: Store,
  by: { readonly grant: RootGrant; readonly sessionId: SessionId },
  read: (given: Readonly<Record<string, string>>) => Promise<Read>,
): Promise<Read> {
  const given: Record<string, string> = {};
  let found = await read(given);
  let earlier: GoalContract['entities'] | undefined;
  for (let count = 0; count < ENTITY_COUNT_MAX && found.kind === 'question'; count++) {
    const { wants, options } = found.blocked;
    if (options.length > 0 || Object.hasOwn(given, wants)) break;
    earlier ??= (await lastGoal(store, by))?.entities ?? {};
    const value = Object.hasOwn(earlier, wants) ? earlier[wants] : undefined;
    if (value === undefined) break;
    given[wants] = [value].flat().join(', ');
    found = await read(given);
  }
  return found;
}

async function lastGoal(
  store: Store,
  { grant, sessionId }: { readonly grant: RootGrant; readonly sessionId: SessionId },
): Promise<GoalContract | undefined> {
  const heads = await store.runs({ tenant: grant.tenant, level: 'central', limit: LOOKED_COUNT_MAX });
  for (const { ref, requestedBy } of heads) {
    if (requestedBy !== grant.sub) continue;
    const opening = await store.events(ref, 0, OPENING_EVENT_COUNT);
    const goals = opening.flatMap((event) => (event.kind === 'goal.frozen' ? [event.body.goal] : []));
    const goal = goals.at(-1);
    if (goal?.sessionId === sessionId) return goal;
  }
  return undefined;
}
