/** The people of a simulated world at the desks of whichever supervisor is alive. Like people they try again until it is done. */
import type { ApprovalRow } from '#contracts/approval.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import { SUPERVISOR_ROLE } from './fault.ts';
import type { Person } from './person.ts';
import type { SimulatedAsk } from './simulated-case.ts';
import type { World } from './world.ts';

/** How a person fares. */
export interface PersonState {
  runId: string | undefined;
  /** Has something left to do. */
  busy: boolean;
}

const AGAIN_MS = 700;
const TRY_COUNT_MAX = 400;
const TOO_LATE_MS = 7_500;

/** Sets all of them going; each state tells how far its person is. */
export function startPeople(world: World, people: readonly Person[]): readonly PersonState[] {
  return people.map((person, index) => {
    const state: PersonState = { runId: undefined, busy: true };
    const ask = world.of.asks[person.ask % world.of.asks.length] ?? world.of.asks[0];
    void live(world, { person, ask, index, state });
    return state;
  });
}

interface Living {
  readonly person: Person;
  readonly ask: SimulatedAsk;
  readonly index: number;
  readonly state: PersonState;
}

async function live(world: World, living: Living): Promise<void> {
  const { person, ask, index, state } = living;
  const { time } = world;
  await time.sleep(person.atMs);
  const request = { text: ask.text, language: undefined, sessionId: undefined, idempotencyKey: `person-${index}` };
  const submit = async (desk: RunDesk): Promise<string> => (await desk.submit(ask.grant, request)).view.runId;
  const second = person.twice ? insist(world, submit) : undefined;
  const runId = await insist(world, submit);
  if (second !== undefined && (await second) !== runId)
    world.report('INV-09', `One request under one key opened ${runId} and ${String(await second)}.`);
  state.runId = runId;
  if (runId === undefined) {
    world.report('LIVENESS', `Person ${index} asked again and again, and no run was opened.`);
    state.busy = false;
    return;
  }
  const cancelling =
    person.cancelAfterMs === undefined
      ? undefined
      : cancelLater(world, living, { runId, afterMs: person.cancelAfterMs });
  const replanning =
    person.replanAfterMs === undefined
      ? undefined
      : replanLater(world, living, { runId, afterMs: person.replanAfterMs });
  await attend(world, living, runId);
  await replanning;
  await cancelling;
  state.busy = false;
}

async function cancelLater(
  world: World,
  { ask }: Living,
  { runId, afterMs }: { readonly runId: string; readonly afterMs: number },
): Promise<void> {
  await world.time.sleep(afterMs);
  await insist(world, (desk) => desk.cancel(ask.grant, runId, 'changed my mind'));
}

async function replanLater(
  world: World,
  { ask }: Living,
  { runId, afterMs }: { readonly runId: string; readonly afterMs: number },
): Promise<void> {
  await world.time.sleep(afterMs);
  const never = new AbortController().signal;
  await attempt(world, (desk) => desk.replan(ask.grant, { runId, reason: 'plan it anew' }, never));
}

/** One of the results that contradict each other is said to hold. False when that is refused. */
async function resolve(world: World, grant: RootGrant, runId: string): Promise<boolean> {
  const run = world.witness.accounts.get(SUPERVISOR_ROLE)?.get(`${grant.tenant}/${runId}`);
  const [conflict] = run?.conflicts ?? [];
  if (conflict === undefined) return false;
  const [stepId, hashes] = conflict;
  const held = hashes[world.dice.below(hashes.length)] ?? '';
  const request = { runId, stepId, held, reason: 'this one is right' };
  return (await insist(world, (desk) => desk.resolve(grant, request))) !== undefined;
}

/** Looks at the run whenever it may need somebody, until it has ended or nobody will do anything more. */
async function attend(world: World, living: Living, runId: string): Promise<void> {
  const { ask, person } = living;
  const { supervisor } = world.stores;
  const ref = { tenant: ask.grant.tenant, runId: runId as never };
  for (let look = 0; look < TRY_COUNT_MAX; look++) {
    const head = await supervisor.head(ref);
    if (head === undefined || head.phase === 'ended') return;
    if (head.phase === 'blocked' && !(await help(world, living, runId))) return;
    await world.time.sleep(head.phase === 'blocked' ? 300 : Math.min(2_000, 150 * (look + 1)));
    if (person.decides === 'never' && look > 100) return;
  }
}

/** False: this person leaves the run as it is. */
async function help(world: World, { ask, person }: Living, runId: string): Promise<boolean> {
  const { grant } = ask;
  const { supervisor } = world.stores;
  const pending = await supervisor.approvalList({
    tenant: grant.tenant,
    runId: runId as never,
    state: 'pending',
    limit: 10,
  });
  const [row] = pending;
  if (row !== undefined) return decide(world, { person, row, requester: grant });
  const stale = await supervisor.approvalList({
    tenant: grant.tenant,
    runId: runId as never,
    state: 'stale',
    limit: 1,
  });
  const [old] = stale;
  if (old !== undefined && (await renewed(world, { grant, row: old }))) return true;
  if (await resolve(world, grant, runId)) return true;
  const answers = ask.answers;
  if (answers === undefined) return reconcile(world, grant, runId);
  return (await insist(world, (desk) => desk.answer(grant, runId, answers))) !== undefined;
}

interface Deciding {
  readonly person: Person;
  readonly row: ApprovalRow;
  readonly requester: RootGrant;
}

async function decide(world: World, { person, row, requester }: Deciding): Promise<boolean> {
  const { decides } = person;
  if (decides === 'never') return false;
  await world.time.sleep(decides === 'too_late' ? TOO_LATE_MS : person.decideAfterMs);
  const approver = world.of.approver(row.tenant);
  const request = (digest: string, disposition: 'approved' | 'rejected') => ({
    approvalId: row.approvalId,
    digest,
    disposition,
    reason: disposition === 'rejected' ? 'not like this' : null,
    evidenceInView: undefined,
    channel: 'cli' as const,
  });
  const own = request(row.proposal.actionDigest, decides === 'reject' ? 'rejected' : 'approved');
  const refused = async (grant: RootGrant, asked: typeof own, who: string): Promise<void> => {
    const done = await attempt(world, (desk) => desk.decide(grant, asked));
    if (done.ok && done.value.state === 'approved') world.report('INV-04', `${who} approved ${row.approvalId}.`);
  };
  if (decides === 'wrong_digest')
    await refused(approver, request(digestOf('something else'), 'approved'), 'A wrong digest');
  if (decides === 'requester_first') await refused(requester, own, 'The requester');
  if (decides === 'withdraw') {
    await insist(world, (desk) => desk.withdraw(requester, { approvalId: row.approvalId, reason: 'no longer' }));
    return true;
  }
  const decided = insist(world, (desk) => desk.decide(approver, own));
  if (decides === 'approve_twice') await insist(world, (desk) => desk.decide(approver, own));
  await decided;
  return true;
}

async function renewed(
  world: World,
  { grant, row }: { readonly grant: RootGrant; readonly row: ApprovalRow },
): Promise<boolean> {
  const never = new AbortController().signal;
  const done = await attempt(world, (desk) => desk.repropose(grant, row.approvalId, never));
  return done.ok;
}

/** Asks the owner what became of an effect in doubt. False when there is none, or when the owner does not say. */
async function reconcile(world: World, grant: RootGrant, runId: string): Promise<boolean> {
  const query = { tenant: grant.tenant, runId: runId as never, state: 'unknown', limit: 1 } as const;
  const [effect] = await world.stores.supervisor.effectList(query);
  if (effect === undefined) return false;
  const never = new AbortController().signal;
  const request = { effectId: effect.effectId, finding: undefined, reason: null };
  const row = await insist(world, (desk) => desk.reconcile(world.of.approver(grant.tenant), request, never));
  return row !== undefined && row.state !== 'unknown';
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly final: boolean };

/** At one supervisor that is alive. What it refuses is final; what a broken process or a held run says is not. */
async function attempt<T>(world: World, work: (desk: RunDesk) => Promise<T>): Promise<Attempt<T>> {
  const alive = [...world.supervisors.values()];
  const one = alive[world.dice.below(alive.length)];
  if (one === undefined) return { ok: false, final: false };
  try {
    const died = one.life.died.then((): never => {
      throw new CaseOpsError('ERR_CANCELLED', 'The supervisor died.', { at: 'network', retryable: true });
    });
    return { ok: true, value: await Promise.race([one.life.seen(work(one.desk)), died]) };
  } catch (error) {
    return { ok: false, final: error instanceof CaseOpsError && !error.retryable && !MOVED.has(error.code) };
  }
}

/** Another process moved the run on or holds it: asked again, it is another question. */
const MOVED: ReadonlySet<string> = new Set(['ERR_SEQUENCE', 'ERR_FENCE']);

/** Until it is done, is refused for good, or nobody has listened for a long time. */
async function insist<T>(world: World, work: (desk: RunDesk) => Promise<T>): Promise<T | undefined> {
  for (let count = 0; count < TRY_COUNT_MAX / 8; count++) {
    const done = await attempt(world, work);
    if (done.ok) return done.value;
    if (done.final) return undefined;
    await world.time.sleep(AGAIN_MS);
  }
  return undefined;
}
