/**
 * Erasing one run: its log is verified first, the kernel decides, the tombstone is sealed into the chain, and the store takes everything out
 * in one transaction. INV-11. Decision 0022.
 */
import type { RunRef } from '#contracts/command.ts';
import type { ErasureCause, ErasureScope } from '#contracts/erasure.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { TombstoneId } from '#contracts/ids.ts';
import { sealEvent, verifyChain } from '#kernel/chain.ts';
import { decide } from '#kernel/decide.ts';
import { foldRun } from '#kernel/evolve.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { Erasure, RunHead, Store } from '#ports/store.ts';
import { allEvents } from '../run-record.ts';
import { erasedApproval, erasedEffect, erasedLease } from './erased-rows.ts';
import { artifactsOf } from './run-artifacts.ts';

export interface EraseContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface Wanted {
  readonly head: RunHead;
  readonly scope: ErasureScope;
  readonly cause: ErasureCause;
  readonly by: string;
  /** False: looks only, and counts. */
  readonly apply: boolean;
}

export type Erased =
  | { readonly kind: 'erased'; readonly tombstoneId: TombstoneId | undefined; readonly artifactCount: number }
  /** Nothing was taken, for this reason. */
  | { readonly kind: 'kept'; readonly why: string };

const APPROVAL_COUNT_MAX = 1_000;
/** In place of what a list says that the run is about. */
const SUBJECT_ERASED = 'erased';

/** A run whose log does not verify is kept: what was tampered with is not to be covered by a tombstone. */
export async function eraseRun(context: EraseContext, wanted: Wanted): Promise<Erased> {
  const { store, clock, ids } = context;
  const { head, scope, cause, by, apply } = wanted;
  const { ref } = head;
  const events = await allEvents(store, ref);
  const chain = verifyChain({ ref, seq: 0, hash: '' }, events);
  if (!chain.ok) return { kind: 'kept', why: `Its log does not verify at event ${chain.seq}; look into that first.` };
  const state = foldRun(events);
  const artifacts = artifactsOf(events);
  const erased = { tombstoneId: ids.next('tmb'), scope, cause, by, artifacts: [...artifacts] };
  const decision = decide(state, { kind: 'erase', at: clock.now(), actor: by, erased }, ref);
  if (!decision.ok) return { kind: 'kept', why: decision.error.message };
  if (!apply) return { kind: 'erased', tombstoneId: undefined, artifactCount: artifacts.length };
  const [draft] = decision.events;
  const tombstone = draft && sealEvent(chain.head, draft, { at: clock.now(), actor: by });
  if (tombstone?.kind !== 'run.erased') return { kind: 'kept', why: 'The kernel gave no tombstone for it.' };
  const outcome = await store.erase(await erasureOf(store, { head, tombstone }));
  if (outcome.ok) return { kind: 'erased', tombstoneId: tombstone.body.tombstoneId, artifactCount: artifacts.length };
  return { kind: 'kept', why: `The store says ${outcome.conflict}: it moved on meanwhile.` };
}

type TombstoneEvent = Extract<RunEvent, { readonly kind: 'run.erased' }>;

/** With the artifacts alone, what the run did stays readable. */
async function erasureOf(
  store: Store,
  of: { readonly head: RunHead; readonly tombstone: TombstoneEvent },
): Promise<Erasure> {
  const { head, tombstone } = of;
  const { seq, hash, body } = tombstone;
  const whole = body.scope === 'run';
  const { tenant, runId } = head.ref;
  const next = { ...head, seq, hash, subject: whole ? SUBJECT_ERASED : head.subject };
  const bare = { tombstone, head: next, artifacts: body.artifacts, approvals: [], effects: [], leases: [] };
  if (!whole) return bare;
  const [approvals, effects, leases] = await Promise.all([
    store.approvalList({ tenant, runId, limit: APPROVAL_COUNT_MAX }),
    store.effects(tenant, runId),
    store.leasesOfRun(tenant, runId),
  ]);
  return {
    ...bare,
    approvals: approvals.map(erasedApproval),
    effects: effects.map(erasedEffect),
    leases: leases.map(erasedLease),
  };
}

/** The tombstone of a run that was erased whole, by its last events; undefined for every other. */
export async function tombstoneOf(store: Store, ref: RunRef): Promise<TombstoneEvent | undefined> {
  const head = await store.head(ref);
  if (head === undefined || head.phase !== 'ended') return undefined;
  const last = await store.events(ref, head.seq - 1, 1);
  return last.find((event): event is TombstoneEvent => event.kind === 'run.erased' && event.body.scope === 'run');
}
