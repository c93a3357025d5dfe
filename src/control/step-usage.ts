/** What an attempt used, counted by control from what it can see; nobody's own word is taken. INV-06. Source: DESIGN §3.7. */
import type { Artifact } from '#contracts/artifact.ts';
import type { Usage } from '#contracts/budget.ts';
import type { AttemptState, RunState, StepState } from '#kernel/run-state.ts';
import { millisOf } from '#kernel/time.ts';
import type { RunContext } from './run-context.ts';

/** The calls that the artifact documents; their evidence is checked against them. */
export function usageOfArtifact(
  artifact: Artifact,
  at: { readonly step: StepState; readonly attempt: AttemptState; readonly nowMs: number },
): Usage {
  return {
    modelTokenCount: tokenCountOf(at.step),
    toolCallCount: artifact.toolCalls.length,
    durationMs: durationMs(at.attempt, at.nowMs),
  };
}

/**
 * An attempt that delivered nothing: every call for which a lease was exchanged may have been made, so it counts as made, up to what was
 * reserved. None was exchanged: none was made.
 */
export async function usageOfLost(
  context: Pick<RunContext, 'store' | 'clock'>,
  state: RunState,
  of: { readonly step: StepState; readonly attempt: AttemptState },
): Promise<Usage> {
  const { step, attempt } = of;
  const { tenant, runId } = state.ref;
  const rows = await context.store.leasesOfRun(tenant, runId);
  const exchanged = rows.filter(
    (row) => row.depth > 0 && row.stepId === step.definition.stepId && row.attempt === attempt.attempt,
  );
  const leased = exchanged.reduce((total, row) => total + usesOf(row.use), 0);
  return {
    modelTokenCount: tokenCountOf(step),
    toolCallCount: Math.min(leased, step.definition.budget.toolCallCountMax),
    durationMs: durationMs(attempt, context.clock.nowMs()),
  };
}

/** What a team's models did is seen by nobody here: all that the step was granted counts. A skill without a model is granted none. */
function tokenCountOf({ definition }: StepState): number {
  return definition.budget.modelTokenCountMax;
}

function usesOf(use: string): number {
  if (use === 'single') return 1;
  return use.startsWith('count:') ? Number(use.slice('count:'.length)) : 0;
}

function durationMs(attempt: AttemptState, nowMs: number): number {
  return Math.max(0, nowMs - millisOf(attempt.dispatchedAt));
}
