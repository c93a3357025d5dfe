/** Opening a run, and answering its question: a goal is frozen, or the run says what it must know first. Source: DESIGN §3.1. */
import type { CommandOf, Opening, Queued, RunRef } from '#contracts/command.ts';
import type { EventDraft } from '#contracts/event.ts';
import { decided, type Decision, refused } from './decision.ts';
import { goalDigest } from './goal-digest.ts';
import type { RunState } from './run-state.ts';
import { millisOf } from './time.ts';

/**
 * Opens the run with a frozen goal, blocked on a question, or for a program's calls. A goal of another tenant than the run's is
 * refused. INV-14.
 */
export function decideReceive(command: CommandOf<'receive'>, ref: RunRef): Decision {
  const { origin, statement, language, intake } = command;
  const foreign = foreignGoal(intake, ref);
  if (foreign !== undefined) return foreign;
  if ((origin.level === 'governed') !== (intake.kind === 'calls'))
    return refused('ERR_STATE', `Run ${ref.runId} comes from ${origin.level} and cannot begin with a ${intake.kind}.`);
  return decided(
    { kind: 'run.received', body: { origin, statement, language } },
    ...afterIntake(intake, command.queue),
  );
}

/** Takes the answer to the question of a run whose goal was unclear. Refused unless it answers under the name asked for. */
export function decideClarify(state: RunState, command: CommandOf<'clarify'>): Decision {
  const { blocked } = state;
  if (blocked?.code !== 'GOAL_UNCLEAR')
    return refused(
      'ERR_STATE',
      `Run ${state.ref.runId} is ${state.phase} and asks nothing about its goal; there is nothing to clarify.`,
    );
  if (!Object.hasOwn(command.input, blocked.wants))
    return refused('ERR_USAGE', `Run ${state.ref.runId} wants an input named ${blocked.wants}; it was not given.`);
  const foreign = foreignGoal(command.intake, state.ref);
  if (foreign !== undefined) return foreign;
  return decided(
    { kind: 'run.unblocked', body: { code: blocked.code, by: command.actor, input: { ...command.input } } },
    ...afterIntake(command.intake, command.queue),
  );
}

/** The run's turn has come: its running time begins. Refused for one that does not wait. Source: CONTRACTS "Deadline". */
export function decideAdmit(state: RunState, command: CommandOf<'admit'>): Decision {
  const { queuedAt, phase, ref } = state;
  if (queuedAt === undefined || phase !== 'received')
    return refused('ERR_STATE', `Run ${ref.runId} is ${phase} and waits for no turn.`);
  const waitedMs = Math.max(0, millisOf(command.at) - millisOf(queuedAt));
  return decided({ kind: 'run.admitted', body: { waitedMs } });
}

function afterIntake(intake: Opening, queue: Queued | undefined): readonly EventDraft[] {
  switch (intake.kind) {
    case 'question':
      return [{ kind: 'run.blocked', body: intake.blocked }];
    case 'goal':
      return [
        { kind: 'goal.frozen', body: { goal: intake.goal, goalDigest: goalDigest(intake.goal) } },
        ...(queue === undefined ? [] : [{ kind: 'run.queued', body: { ...queue } } as const]),
      ];
    case 'calls':
      return [];
  }
}

function foreignGoal(intake: Opening, ref: RunRef): Decision | undefined {
  if (intake.kind !== 'goal' || intake.goal.tenant === ref.tenant) return undefined;
  return refused(
    'ERR_GOAL_CONTRACT',
    `Goal ${intake.goal.goalId} is of tenant ${intake.goal.tenant}, run ${ref.runId} of ${ref.tenant}.`,
  );
}
