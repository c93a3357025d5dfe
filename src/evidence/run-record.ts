/** A run as the store has it, read back and checked: its whole log with the chain verified, and its artifacts with their digests. INV-11. */
import type { Artifact } from '#contracts/artifact.ts';
import type { RunRef } from '#contracts/command.ts';
import type { Tombstone } from '#contracts/erasure.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RunId, StepId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { verifyChain } from '#kernel/chain.ts';
import { foldRun } from '#kernel/evolve.ts';
import type { RunState } from '#kernel/run-state.ts';
import { readStoredArtifact } from '#kernel/stored-artifact.ts';
import { isEffectStep } from '#kernel/effect-state.ts';
import type { Store } from '#ports/store.ts';
import { type EffectProof, readEffectProofs } from './effect-proof.ts';

const PAGE_COUNT = 1_000;
/** Events read of one run at most; a longer log is not explained here. */
const EVENT_COUNT_MAX = 1_000_000;

export interface RunRecord {
  readonly ref: RunRef;
  readonly events: readonly RunEvent[];
  /** Undefined: the chain holds. Else which event does not, and how. */
  readonly chainFault: string | undefined;
  readonly state: RunState;
  /** The accepted artifact of each settled step, as far as it reads back. */
  readonly artifacts: ReadonlyMap<StepId, Artifact>;
  /** Why a settled step's artifact does not read back. */
  readonly artifactFaults: ReadonlyMap<StepId, string>;
  /** What settled each effect step, as far as it reads back. */
  readonly effectProofs: ReadonlyMap<StepId, EffectProof>;
  /** The runs whose results this one took over, as far as they exist. */
  readonly earlier: ReadonlyMap<RunId, RunRecord>;
  /** Of those, the ones that were erased whole since. */
  readonly erased: ReadonlyMap<RunId, Tombstone>;
  readonly leases: ReadonlyMap<string, LeaseRow>;
  readonly effects: readonly EffectRow[];
  /** Why the effect ledger does not read back: then nothing is shown by it. */
  readonly ledgerFault: string | undefined;
}

/** Undefined when there is no such run. */
export async function readRunRecord(store: Store, ref: RunRef): Promise<RunRecord | undefined> {
  const record = await readOne(store, ref);
  const runIds = new Set([...(record?.state.steps.values() ?? [])].flatMap(({ origin }) => origin?.runId ?? []));
  if (record === undefined || runIds.size === 0) return record;
  const earlier = new Map<RunId, RunRecord>();
  const erased = new Map<RunId, Tombstone>();
  for (const runId of runIds) {
    // Only what was settled first-hand is taken over: there is nothing behind an earlier run.
    const other = await readOne(store, { tenant: ref.tenant, runId });
    if (other !== undefined) earlier.set(runId, other);
    else await noteErased(store, { tenant: ref.tenant, runId }, erased);
  }
  return { ...record, earlier, erased };
}

async function noteErased(store: Store, ref: RunRef, erased: Map<RunId, Tombstone>): Promise<void> {
  const tombstone = await erasedRun(store, ref);
  if (tombstone !== undefined) erased.set(ref.runId, tombstone);
}

/** The tombstone of a run that was erased whole and whose envelopes still hold in their chain; undefined for every other. */
export async function erasedRun(store: Store, ref: RunRef): Promise<Tombstone | undefined> {
  const events = await allEvents(store, ref);
  const last = events.findLast((event) => event.kind === 'run.erased' && event.body.scope === 'run');
  if (last?.kind !== 'run.erased' || !verifyChain({ ref, seq: 0, hash: '' }, events).ok) return undefined;
  return { ...last.body, at: last.at };
}

async function readOne(store: Store, ref: RunRef): Promise<RunRecord | undefined> {
  const events = await allEvents(store, ref);
  const state = foldRun(events);
  if (state === undefined) return undefined;
  const chain = verifyChain({ ref, seq: 0, hash: '' }, events);
  const artifacts = new Map<StepId, Artifact>();
  const artifactFaults = new Map<StepId, string>();
  for (const step of state.steps.values()) {
    const { definition, result } = step;
    if (result?.artifactRef === undefined || isEffectStep(step)) continue;
    const bytes = await store.artifact(ref.tenant, result.artifactRef);
    const read = readStoredArtifact(bytes, result.artifactRef);
    if (read.ok) artifacts.set(definition.stepId, read.artifact);
    else artifactFaults.set(definition.stepId, read.error.message);
  }
  const leases = await store.leasesOfRun(ref.tenant, ref.runId);
  const { effects, ledgerFault } = await readLedger(store, ref);
  return {
    ref,
    events,
    chainFault: chain.ok ? undefined : `event ${chain.seq}: expected ${chain.expected}, got ${chain.got}`,
    state,
    artifacts,
    artifactFaults,
    earlier: new Map(),
    erased: new Map(),
    effectProofs: await readEffectProofs(store, ref, state),
    leases: new Map(leases.map((row) => [row.leaseId, row])),
    effects,
    ledgerFault,
  };
}

/** The whole log, page by page. */
export async function allEvents(store: Store, ref: RunRef): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  while (events.length < EVENT_COUNT_MAX) {
    const page = await store.events(ref, events.at(-1)?.seq ?? 0, PAGE_COUNT);
    events.push(...page);
    if (page.length < PAGE_COUNT) break;
  }
  return events;
}

/** A row that does not read back is no absence. */
async function readLedger(store: Store, ref: RunRef): Promise<Pick<RunRecord, 'effects' | 'ledgerFault'>> {
  try {
    return { effects: await store.effects(ref.tenant, ref.runId), ledgerFault: undefined };
  } catch (error) {
    return { effects: [], ledgerFault: error instanceof Error ? error.message : String(error) };
  }
}
