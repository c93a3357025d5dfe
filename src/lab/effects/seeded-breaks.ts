/**
 * Mistakes that a drill must find: each makes one part behave as in a product that has the flaw. For the tests of the drill alone; named,
 * so that a child process can be given one.
 */
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import type { Applied, ApplyRequest, EffectTarget } from '#ports/effect-target.ts';
import type { Store } from '#ports/store.ts';
import { type ChainHead, sealEvent } from '#kernel/chain.ts';
import { digestOf } from '#kernel/digest.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { APPROVER, SECOND_APPROVER } from './notice-teams.ts';

export interface SeededBreak {
  /** Between writer and owner. */
  readonly target?: (target: EffectTarget) => EffectTarget;
  readonly policy?: (policy: ApprovalPolicy) => ApprovalPolicy;
  /** Between the parts and the database. */
  readonly store?: (store: Store) => Store;
  /** Between people and the parts; it also has what a sloppy implementation would reach for. */
  readonly world?: (world: EffectWorld, target: EffectTarget) => EffectWorld;
}

let freshCount = 0;

/** The same effect under a key that the owner has not seen, on whatever version it is at now. */
async function sendAfresh(target: EffectTarget, request: ApplyRequest, signal: AbortSignal): Promise<Applied> {
  const { action } = request;
  const { version } = await target.read(action.resource, action.tenant, signal);
  freshCount += 1;
  return target.apply(
    { ...request, idempotencyKey: `${request.idempotencyKey}:again${freshCount}`, expectedVersion: version },
    signal,
  );
}

const sendsAgainInDoubt: SeededBreak = {
  target: (target) => ({
    ...target,
    apply: async (request, signal) => {
      const applied = await target.apply(request, signal);
      return applied.outcome === 'unknown' ? sendAfresh(target, request, signal) : applied;
    },
  }),
};

/** Nothing is ever found under a key, and every send has a fresh one: no look-up. */
const neverLooksUp: SeededBreak = {
  target: (target) => ({
    ...target,
    apply: (request, signal) => sendAfresh(target, request, signal),
    readBack: (_key, action, signal) =>
      sendAfresh(
        target,
        { action, bytes: new Uint8Array(), idempotencyKey: action.idempotencyKey, expectedVersion: null },
        signal,
      ).then(() => ({ found: 'hidden', message: 'It was sent again.' }) as const),
  }),
};

const takesHiddenForAbsent: SeededBreak = {
  target: (target) => ({
    ...target,
    readBack: async (key, action, signal) => {
      const seen = await target.readBack(key, action, signal);
      return seen.found === 'hidden' ? { found: 'absent' } : seen;
    },
  }),
};

const takesRefusalForTheEnd: SeededBreak = {
  target: (target) => ({
    ...target,
    apply: async (request, signal) => {
      const applied = await target.apply(request, signal);
      return applied.outcome === 'refused_before' ? { ...applied, retryable: false } : applied;
    },
  }),
};

/** Each decision sends for itself. */
const sendsPerDecision: SeededBreak = {
  world: (world, target) => ({
    ...world,
    desk: {
      ...world.desk,
      decide: async (grant, request) => {
        const row = await world.desk.decide(grant, request);
        const { action } = row.proposal;
        const { idempotencyKey, expectedVersion } = action;
        const bytes = new Uint8Array();
        await sendAfresh(target, { action, bytes, idempotencyKey, expectedVersion }, AbortSignal.timeout(5_000));
        return row;
      },
    },
  }),
};

/** The oldest request is decided, whatever the decision is about. */
const decidesTheOldest: SeededBreak = {
  world: (world) => ({
    ...world,
    desk: {
      ...world.desk,
      decide: async (grant, request) => {
        const pending = await world.desk.approvals(grant, { state: 'pending', runId: undefined, limit: 100 });
        const row = pending.at(-1);
        if (row === undefined) return world.desk.decide(grant, request);
        const { approvalId, proposal } = row;
        return world.desk.decide(grant, { ...request, approvalId, digest: proposal.actionDigest });
      },
    },
  }),
};

const ignoresTheDigest: SeededBreak = {
  world: (world) => ({
    ...world,
    desk: {
      ...world.desk,
      decide: async (grant, request) => {
        const row = await world.desk.approval(grant, request.approvalId);
        return world.desk.decide(grant, { ...request, digest: row.proposal.actionDigest });
      },
    },
  }),
};

/** Whatever version was approved is said to be the one there is, and the newest is overwritten. */
const ignoresTheVersion: SeededBreak = {
  target: (target) => {
    let first: string | null | undefined;
    return {
      ...target,
      read: async (resource, tenant, signal) => {
        const live = await target.read(resource, tenant, signal);
        first ??= live.version;
        return { ...live, version: first };
      },
      apply: async (request, signal) => {
        const { resource, tenant } = request.action;
        const { version } = await target.read(resource, tenant, signal);
        const applied = await target.apply({ ...request, expectedVersion: version }, signal);
        return applied.outcome === 'precondition_failed'
          ? target.apply({ ...request, expectedVersion: applied.currentVersion }, signal)
          : applied;
      },
    };
  },
};

const ignoresThePolicy: SeededBreak = {
  policy: (policy) => ({ ...policy, digest: digestOf('whatever the policy says') }),
};

const neverExpires: SeededBreak = {
  policy: (policy) => ({
    ...policy,
    terms: (action, approval) => ({ ...policy.terms(action, approval), expiresInMs: 3_600_000 }),
  }),
};

const letsAnybodyDecide: SeededBreak = {
  world: (world) => ({
    ...world,
    desk: { ...world.desk, decide: (_grant, request) => world.desk.decide(SECOND_APPROVER, request) },
  }),
};

/** Reads what a team delivered as if an approver had said it. */
const believesArtifacts: SeededBreak = {
  world: (world) => ({
    ...world,
    desk: {
      ...world.desk,
      view: async (grant, runId) => {
        const pending = await world.desk.approvals(APPROVER, { state: 'pending', runId, limit: 1 });
        for (const { approvalId, proposal } of pending)
          await world.desk.decide(APPROVER, {
            approvalId,
            digest: proposal.actionDigest,
            disposition: 'approved',
            reason: null,
            evidenceInView: undefined,
            channel: 'console',
          });
        return world.desk.view(grant, runId);
      },
    },
  }),
};

/** One key per run although the effect has a key of its own. */
const keysPerRun: SeededBreak = {
  target: (target) => ({ ...target, idempotencyKey: ({ runId }) => `notice:${runId}` }),
};

/** A run lock that holds nobody off, and a fence that anybody passes. */
const locksNothing: SeededBreak = {
  store: (store) => ({
    ...store,
    takeLock: (ref, owner) => store.takeLock(ref, owner, 0),
    takeOpenRuns: (level, { owner }, limit) => store.takeOpenRuns(level, { owner, ttlMs: 0 }, limit),
    heartbeat: (owner) => store.heartbeat(owner, 0),
    commit: async (commit) => {
      const outcome = await store.commit(commit);
      if (outcome.ok || outcome.conflict !== 'fence') return outcome;
      const taken = await store.takeLock(commit.ref, commit.owner, 0);
      return store.commit({ ...commit, fence: taken?.fence ?? outcome.actualFence });
    },
  }),
};

/** Whatever the log says is sealed anew when it is read: no chain. */
const sealsWhatItReads: SeededBreak = {
  store: (store) => ({
    ...store,
    events: async (ref, afterSeq, limit) => {
      let head: ChainHead = { ref, seq: 0, hash: '' };
      const sealed = (await store.events(ref, 0, afterSeq + limit)).map((event) => {
        const next = event.kind === 'body.erased' ? event : sealEvent(head, event, event);
        head = { ref, seq: next.seq, hash: next.hash };
        return next;
      });
      return sealed.slice(afterSeq);
    },
  }),
};

export const SEEDED_BREAKS = {
  'sends-again-in-doubt': sendsAgainInDoubt,
  'never-looks-up': neverLooksUp,
  'takes-hidden-for-absent': takesHiddenForAbsent,
  'takes-refusal-for-the-end': takesRefusalForTheEnd,
  'sends-per-decision': sendsPerDecision,
  'decides-the-oldest': decidesTheOldest,
  'ignores-the-digest': ignoresTheDigest,
  'ignores-the-version': ignoresTheVersion,
  'ignores-the-policy': ignoresThePolicy,
  'never-expires': neverExpires,
  'lets-anybody-decide': letsAnybodyDecide,
  'believes-artifacts': believesArtifacts,
  'keys-per-run': keysPerRun,
  'locks-nothing': locksNothing,
  'seals-what-it-reads': sealsWhatItReads,
} as const satisfies Readonly<Record<string, SeededBreak>>;

export type SeededBreakName = keyof typeof SEEDED_BREAKS;
