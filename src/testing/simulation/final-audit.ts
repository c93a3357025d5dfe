/**
 * What must hold when a simulated world has come to rest: every run has ended or says for whom it waits, what the stores hold is what the
 * witness saw, and what the owner applied is what the ledger says.
 */
import type { RunEvent } from '#contracts/event.ts';
import type { Digest, RunId } from '#contracts/ids.ts';
import { nativeSha256 } from '#drivers/local/native-sha256.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { Store } from '#ports/store.ts';
import { SUPERVISOR_ROLE } from './fault.ts';
import type { RunAccount } from './run-account.ts';
import type { World } from './world.ts';

const EVENT_COUNT_MAX = 100_000;
/** Of the logs of teams every so manieth is read back and hashed again: the reading is a tenth of a whole world. */
const TEAM_LOG_EVERY = 8;

/** Returns the chain heads of all runs in a fixed order: what two runs of one seed must have in common. */
export async function auditFinally(world: World): Promise<readonly string[]> {
  const heads: string[] = [];
  for (const [name, runs] of world.witness.accounts) {
    const store = name === SUPERVISOR_ROLE ? world.stores.supervisor : world.stores.team(name);
    for (const [index, run] of [...runs.values()].entries()) {
      if (name === SUPERVISOR_ROLE || (world.seed + index) % TEAM_LOG_EVERY === 0) await auditLog(world, store, run);
      alive(world, run);
      heads.push(`${name} ${run.tenant}/${run.runId} ${run.seq} ${run.hash}`);
    }
  }
  for (const run of world.witness.accounts.get(SUPERVISOR_ROLE)?.values() ?? []) {
    await auditEffects(world, run);
    await auditLeases(world, run);
  }
  return heads.toSorted();
}

async function auditLog(world: World, store: Store, run: RunAccount): Promise<void> {
  const { report } = world.witness;
  const ref = { tenant: run.tenant, runId: run.runId as RunId };
  const events = await store.events(ref, 0, EVENT_COUNT_MAX);
  let prev = '';
  for (const event of events) {
    const expected = hashOf(event);
    if (event.prev !== prev || event.hash !== expected)
      report('INV-11', `Event ${event.seq} of ${run.runId} does not hold in its chain.`);
    prev = event.hash;
  }
  if (events.length !== run.seq || prev !== run.hash)
    report('INV-11', `The log of ${run.runId} has ${events.length} events; ${run.seq} were acknowledged.`);
  const head = await store.head(ref);
  if (head?.seq !== run.seq || head.hash !== run.hash) report('INV-11', `The head of ${run.runId} is another event.`);
}

/** Ended, or blocked with a reason that is the last thing said about it. */
function alive({ witness }: World, { runId, phase, blockedCode }: RunAccount): void {
  if (phase === 'ended' || (phase === 'blocked' && blockedCode !== undefined)) return;
  witness.report('LIVENESS', `Run ${runId} is ${phase} at the end, and nothing will move it.`);
}

/** RFC 8785 and SHA-256 over what the event says, by the platform's hash. */
function hashOf({ body, ...event }: RunEvent): string {
  const bodyDigest = sha(canonicalText(body));
  const { tenant, runId, seq, kind, schemaVersion, at, actor, prev } = event;
  return sha(canonicalText({ tenant, runId, seq, kind, schemaVersion, at, actor, prev, bodyDigest }));
}

function sha(text: string | undefined): Digest {
  return `sha256:${nativeSha256(text ?? '')}`;
}

/** The ledger against the owner. */
async function auditEffects(world: World, run: RunAccount): Promise<void> {
  const { report } = world.witness;
  const rows = await world.stores.supervisor.effects(run.tenant, run.runId as RunId);
  for (const { effectId, state, idempotencyKey } of rows) {
    const count = world.targets.reduce((sum, owner) => sum + owner.appliedCount(idempotencyKey), 0);
    if (count > 1) report('INV-12', `The owner applied ${idempotencyKey} ${count} times.`);
    if (state === 'completed' && count !== 1)
      report('INV-12', `Effect ${effectId} is completed and was applied ${count} times.`);
    if (state === 'failed' && count !== 0) report('INV-12', `Effect ${effectId} has failed and was applied.`);
    const approvals = [...run.approvals.values()].filter(({ spentOn }) => spentOn.includes(effectId));
    if (approvals.length !== 1) report('INV-04', `Effect ${effectId} rests on ${approvals.length} approvals.`);
  }
}

/** The registry: each lease is of the run's tenant, each child names a parent that it is inside of. */
async function auditLeases(world: World, run: RunAccount): Promise<void> {
  const { report } = world.witness;
  const rows = await world.stores.supervisor.leasesOfRun(run.tenant, run.runId as RunId);
  const byId = new Map<string, (typeof rows)[number]>(rows.map((row) => [row.leaseId, row]));
  for (const row of rows) {
    if (row.tenant !== run.tenant) report('INV-14', `Lease ${row.leaseId} of ${run.runId} is of ${row.tenant}.`);
    const parent = row.parent === undefined ? undefined : byId.get(row.parent);
    if (row.depth > 0 && parent === undefined) report('INV-10', `Lease ${row.leaseId} has no parent in the registry.`);
    if (parent === undefined) continue;
    // A lease that is minted again after a crash keeps its row, and so its first expiry: times are checked where a token is exchanged.
    const wider =
      row.actions.some((one) => !parent.actions.includes(one)) ||
      row.resources.some((one) => !parent.resources.includes(one));
    if (wider) report('INV-10', `Lease ${row.leaseId} is wider than ${parent.leaseId}.`);
  }
}
