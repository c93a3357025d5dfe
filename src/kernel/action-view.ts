/**
 * What an approver sees, rendered by code from the action's canonical form and the live record: nothing that is approved can be left
 * out, and nothing else can be put in. Source: DESIGN §3.10.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { Digest } from '#contracts/ids.ts';
import type { ActionView, Proposal } from '#contracts/proposal.ts';
import { canonicalText } from './canonical.ts';
import { digestOf } from './digest.ts';
import { escapePointer, resolvePointer } from './pointer.ts';

/** More members than this cannot be shown, and what cannot be shown cannot be approved. */
export const VIEW_ROW_COUNT_MAX = 256;
const VALUE_LENGTH_MAX = 8_000;

/** One row per leaf of the parameters, in canonical order; undefined when they are too many or too long to be shown whole. */
export function renderActionView(action: EffectAction, before: Proposal['before']): ActionView | undefined {
  const rows = [...leaves('', action.parameters)].map(([pointer, value]) => {
    const live = before === null ? { found: false as const } : resolvePointer(before, pointer);
    return { pointer, before: live.found ? shown(live.value) : null, after: shown(value) };
  });
  const whole = rows.every(
    (row) => row.after.length <= VALUE_LENGTH_MAX && (row.before ?? '').length <= VALUE_LENGTH_MAX,
  );
  if (rows.length > VIEW_ROW_COUNT_MAX || !whole) return undefined;
  return { title: titleOf(action), rows };
}

export function viewDigest(view: ActionView): Digest {
  return digestOf(view);
}

function titleOf({ action, resource, expectedVersion, target, tenant, requestedBy }: EffectAction): string {
  const at = expectedVersion === null ? 'which does not exist yet' : `at version ${expectedVersion}`;
  return `${action} on ${resource}, ${at}, through ${target}, for tenant ${tenant}, asked for by ${requestedBy}`;
}

/** The values that have no members, each with its pointer. An empty object or list is a value. */
function* leaves(
  pointer: string,
  value: unknown,
): Generator<readonly [pointer: string, value: unknown], void, undefined> {
  if (typeof value !== 'object' || value === null) {
    yield [pointer, value];
    return;
  }
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (members.length === 0 && pointer !== '') yield [pointer, value];
  for (const [name, member] of members) yield* leaves(`${pointer}/${escapePointer(name)}`, member);
}

/** Text as it is, everything else as canonical JSON. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : (canonicalText(value) ?? '');
}
