/**
 * A question that follows from earlier ones of the same session: “and what is missing?” means the same claim, and may be answered with what
 * they have settled. Only the person's own runs are looked at, only of their tenant and session. Source: DESIGN §3.1, decision 0020.
 */
import type { Intake } from '#contracts/command.ts';
import type { RunId, SessionId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Store } from '#ports/store.ts';

type Read = Intake & { readonly language: string };

/** Runs of the tenant looked through for those of the session. */
const LOOKED_COUNT_MAX = 100;
/** Runs that one run follows at most: the latest. */
const FOLLOWED_COUNT_MAX = 16;
/** One question an entity; a kind has far fewer. */
const ENTITY_COUNT_MAX = 8;
/** `run.received` and `goal.frozen` are among the first events; between them, at most one question and its answer. */
const OPENING_EVENT_COUNT = 8;

/** A run of the session, with what it was asked. */
export interface EarlierRun {
  readonly runId: RunId;
  readonly goal: GoalContract;
}

/** The person's runs of this session that have a goal, latest first, at most 16. */
export async function sessionRuns(
  store: Store,
  { grant, sessionId }: { readonly grant: RootGrant; readonly sessionId: SessionId },
): Promise<readonly EarlierRun[]> {
  const found: EarlierRun[] = [];
  const heads = await store.runs({ tenant: grant.tenant, level: 'central', limit: LOOKED_COUNT_MAX });
  for (const { ref, requestedBy } of heads) {
    if (found.length >= FOLLOWED_COUNT_MAX) break;
    if (requestedBy !== grant.sub) continue;
    const opening = await store.events(ref, 0, OPENING_EVENT_COUNT);
    const goals = opening.flatMap((event) => (event.kind === 'goal.frozen' ? [event.body.goal] : []));
    const goal = goals.at(-1);
    if (goal?.sessionId === sessionId) found.push({ runId: ref.runId, goal });
  }
  return found;
}

/**
 * Reads with `read`, and as long as the text lacks an entity that the person's last goal in this session had, reads again with that.
 * `read` is given the values to assume, by entity kind. A text that names one of its own keeps it.
 */
export async function readFollowing(
  earlier: readonly EarlierRun[],
  read: (given: Readonly<Record<string, string>>) => Promise<Read>,
): Promise<Read> {
  const given: Record<string, string> = {};
  const entities = earlier[0]?.goal.entities ?? {};
  let found = await read(given);
  for (let count = 0; count < ENTITY_COUNT_MAX && found.kind === 'question'; count++) {
    const { wants, options } = found.blocked;
    if (options.length > 0 || Object.hasOwn(given, wants)) break;
    const value = Object.hasOwn(entities, wants) ? entities[wants] : undefined;
    if (value === undefined) break;
    given[wants] = [value].flat().join(', ');
    found = await read(given);
  }
  return found;
}
