/**
 * Kernels with one mistake each, wrapped around the one that ships: for each invariant that a decider or a fold can break, what an
 * exploration must find, in the smallest plan that shows it. For the tests of the exploration alone.
 */
import type { Command, CommandOf } from '#contracts/command.ts';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import type { Decision } from '#kernel/decision.ts';
import type { RunState } from '#kernel/run-state.ts';
import { copyRun } from './copy-run.ts';
import type { Kernel } from './explore-plan.ts';
import { SHIPPED_KERNEL } from './shipped-kernel.ts';

export interface BrokenKernel {
  /** The invariant that breaks first. */
  readonly invariant: string;
  readonly shape: string;
  /** Moves in the shortest counterexample, from the accepted plan on. */
  readonly moveCount: number;
  readonly kernel: Kernel;
  /** Its goal declares a sentence. */
  readonly answered?: boolean;
}

const { decide, evolve } = SHIPPED_KERNEL;

/** Decides in a state that was doctored, where the real one was refused. */
function doctored(doctor: (state: RunState, command: Command) => boolean): Kernel {
  return {
    ...SHIPPED_KERNEL,
    decide: (state, command, ref) => {
      const honest = decide(state, command, ref);
      if (state === undefined) return honest;
      const copy = copyRun(state);
      return doctor(copy, command) ? decide(copy, command, ref) : honest;
    },
  };
}

/** Says other events than were decided. */
function rewritten(rewrite: (events: readonly EventDraft[], command: Command) => readonly EventDraft[]): Kernel {
  return {
    ...SHIPPED_KERNEL,
    decide: (state, command, ref): Decision => {
      const decision = decide(state, command, ref);
      return decision.ok ? { ok: true, events: rewrite(decision.events, command) } : decision;
    },
  };
}

/** Folds some events otherwise. */
function misfolded(fold: (state: RunState, event: RunEvent) => void): Kernel {
  return { ...SHIPPED_KERNEL, evolve: fold };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function isKind<K extends Command['kind']>(command: Command, kind: K): command is CommandOf<K> {
  return command.kind === kind;
}

const findsNothingAndCallsItCompleted = rewritten((events) =>
  events.map((event): EventDraft => {
    if (event.kind !== 'step.settled' || event.body.result.status !== 'no_data') return event;
    return { kind: 'step.settled', body: { ...event.body, result: { ...event.body.result, status: 'completed' } } };
  }),
);

const ignoresDependencies = doctored((state, command) => {
  const step = isKind(command, 'dispatch') ? state.steps.get(command.stepId) : undefined;
  if (step?.phase !== 'pending') return false;
  step.phase = 'ready';
  return true;
});

const beginsWithoutSpending = rewritten((events) => events.filter(({ kind }) => kind !== 'approval.spent'));

const acceptsASecondResult = doctored((state, command) => {
  const step = isKind(command, 'deliver') ? state.steps.get(command.stepId) : undefined;
  if (step?.phase !== 'settled' || state.phase !== 'running') return false;
  step.result = undefined;
  step.phase = 'waiting';
  return true;
});

const countsNoBudget = doctored((state, command) => {
  if (!isKind(command, 'dispatch') || state.budget === undefined) return false;
  state.budget = { ...state.budget, toolCallCountMax: 99 };
  return true;
});

const dispatchesAfterCancel = doctored((state, command) => {
  if (!isKind(command, 'dispatch') || state.phase !== 'cancelling') return false;
  state.cancelRequested = undefined;
  state.phase = 'running';
  return true;
});

const takesAnotherPlansResult: Kernel = {
  ...SHIPPED_KERNEL,
  decide: (state, command, ref): Decision => {
    if (!isKind(command, 'deliver') || command.planVersion !== 2) return decide(state, command, ref);
    const decision = decide(state, { ...command, planVersion: 1 }, ref);
    if (!decision.ok) return decision;
    const of2 = (event: EventDraft): EventDraft =>
      'planVersion' in event.body ? ({ ...event, body: { ...event.body, planVersion: 2 } } as EventDraft) : event;
    return { ok: true, events: decision.events.map(of2) };
  },
};

const letsALateResultBlock = misfolded((state, event) => {
  evolve(state, event);
  if (event.kind === 'result.late') state.needsHuman = true;
});

const settlesWithAnothersResult = rewritten((events) =>
  events.map((event): EventDraft => {
    if (event.kind !== 'step.settled' || event.body.dispatchId === undefined) return event;
    return { kind: 'step.settled', body: { ...event.body, dispatchId: 'dsp_other' } };
  }),
);

const forgetsRecordsInTheChain = misfolded((state, event) => {
  const { seq, hash } = state;
  evolve(state, event);
  if (event.kind.startsWith('result.')) Object.assign(state, { seq, hash });
});

const sendsAgainInDoubt = doctored((state, command) => {
  const effect = isKind(command, 'retryEffect') ? state.effects.get(command.effectId) : undefined;
  if (effect?.state !== 'unknown') return false;
  effect.state = 'not_started';
  return true;
});

const spendsAnApprovalTwice = doctored((state, command) => {
  const approval = isKind(command, 'intendEffect') ? state.approvals.get(command.approvalId) : undefined;
  if (approval?.state !== 'spent') return false;
  approval.state = 'approved';
  state.effects.clear();
  return true;
});

const spendsAnExpiredApproval = doctored((state, command) => {
  const approval = isKind(command, 'intendEffect') ? state.approvals.get(command.approvalId) : undefined;
  if (approval === undefined) return false;
  (approval as Mutable<typeof approval>).proposal = { ...approval.proposal, expiresAt: '2099-01-01T00:00:00.000Z' };
  return true;
});

const asksApprovalForAnotherTenant: Kernel = {
  ...SHIPPED_KERNEL,
  decide: (state, command, ref): Decision => {
    const decision = decide(state, command, ref);
    if (decision.ok || !isKind(command, 'requestApproval') || command.proposal.action.tenant === ref.tenant)
      return decision;
    const { stepId, planVersion, proposal } = command;
    const { approvalId } = proposal;
    return { ok: true, events: [{ kind: 'approval.requested', body: { approvalId, stepId, planVersion, proposal } }] };
  },
};

const saysWhatRestsOnNothing: Kernel = {
  ...SHIPPED_KERNEL,
  decide: (state, command, ref): Decision => {
    const decision = decide(state, command, ref);
    if (!decision.ok || !isKind(command, 'compose')) return decision;
    const { answer } = command;
    return {
      ok: true,
      events: [
        { kind: 'answer.composed', body: { answer } },
        { kind: 'run.ended', body: { result: answer.result, needsHuman: answer.needsHuman } },
      ],
    };
  },
};

const callsFailureCompleted = rewritten((events) =>
  events.map((event): EventDraft =>
    event.kind === 'run.ended' ? { kind: 'run.ended', body: { ...event.body, result: 'completed' } } : event,
  ),
);

const losesARetry = misfolded((state, event) => {
  evolve(state, event);
  if (event.kind === 'step.attempt_failed') state.delayed.delete(event.body.stepId);
});

/** Nobody but time could end a cancellation, and it does not. */
const neverSettlesACancellation: Kernel = {
  ...SHIPPED_KERNEL,
  decide: (state, command, ref): Decision =>
    state?.phase === 'cancelling' ? { ok: true, events: [] } : decide(state, command, ref),
};

export const BROKEN_KERNELS: Readonly<Record<string, BrokenKernel>> = {
  'finds nothing and calls it completed': {
    invariant: 'INV-01',
    shape: 'r1',
    moveCount: 2,
    kernel: findsNothingAndCallsItCompleted,
  },
  'ignores dependencies': { invariant: 'INV-02', shape: 'r1 r2(r1)', moveCount: 1, kernel: ignoresDependencies },
  'loses a retry': { invariant: 'INV-02', shape: 'r1', moveCount: 2, kernel: losesARetry },
  'says what rests on nothing': {
    invariant: 'INV-03',
    shape: 'r1',
    moveCount: 3,
    kernel: saysWhatRestsOnNothing,
    answered: true,
  },
  'begins an effect without spending its approval': {
    invariant: 'INV-04',
    shape: 'e1',
    moveCount: 3,
    kernel: beginsWithoutSpending,
  },
  'accepts a second result': { invariant: 'INV-05', shape: 'r1 r2', moveCount: 3, kernel: acceptsASecondResult },
  'counts no budget': { invariant: 'INV-06', shape: 'r1 r2', moveCount: 7, kernel: countsNoBudget },
  'dispatches after cancellation': { invariant: 'INV-07', shape: 'r1 r2', moveCount: 3, kernel: dispatchesAfterCancel },
  "takes another plan's result": { invariant: 'INV-08', shape: 'r1', moveCount: 2, kernel: takesAnotherPlansResult },
  'lets a late result change the run': { invariant: 'INV-08', shape: 'r1', moveCount: 3, kernel: letsALateResultBlock },
  "settles a step with another's result": {
    invariant: 'INV-09',
    shape: 'r1',
    moveCount: 2,
    kernel: settlesWithAnothersResult,
  },
  'leaves records out of the chain': {
    invariant: 'INV-11',
    shape: 'r1',
    moveCount: 2,
    kernel: forgetsRecordsInTheChain,
  },
  'sends again in doubt': { invariant: 'INV-12', shape: 'e1', moveCount: 5, kernel: sendsAgainInDoubt },
  'spends an approval twice': { invariant: 'INV-13', shape: 'e1', moveCount: 4, kernel: spendsAnApprovalTwice },
  'spends an expired approval': { invariant: 'INV-13', shape: 'e1', moveCount: 4, kernel: spendsAnExpiredApproval },
  'asks approval for another tenant': {
    invariant: 'INV-14',
    shape: 'e1',
    moveCount: 1,
    kernel: asksApprovalForAnotherTenant,
  },
  'calls a failed run completed': { invariant: 'JOIN', shape: 'r1', moveCount: 1, kernel: callsFailureCompleted },
  'never settles a cancellation': {
    invariant: 'NO-DEAD-END',
    shape: 'r1',
    moveCount: 2,
    kernel: neverSettlesACancellation,
  },
};
