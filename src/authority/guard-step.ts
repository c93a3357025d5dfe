/**
 * A guard is a table of small named steps, run in order; the first that finds something answers. The names are wire-visible in tests:
 * the authority lab checks that the right step refused. Source: LEASE "Checking", LAB.
 */
import type { GuardOutcome } from '#contracts/lease.ts';
import type { RefusalCode } from './refusal-code.ts';

export interface Finding {
  readonly outcome: Exclude<GuardOutcome, 'permit'>;
  readonly code: RefusalCode;
  readonly message: string;
}

/** A step may add what it has read to the state for later steps; one whose input is missing refuses. */
export interface GuardStep<S> {
  readonly name: string;
  readonly check: (state: S) => Finding | undefined;
}

export interface NamedFinding extends Finding {
  readonly guard: string;
}

/**
 * The first finding, or undefined when every step is satisfied. Steps named in `ignored` run, since later steps need what they read,
 * but cannot refuse. A step that throws refuses: a guard never fails open.
 */
export function runSteps<S>(
  steps: readonly GuardStep<S>[],
  state: S,
  ignored: ReadonlySet<string>,
): NamedFinding | undefined {
  for (const step of steps) {
    const finding = checkClosed(step, state);
    if (finding !== undefined && !ignored.has(step.name)) return { ...finding, guard: step.name };
  }
  return undefined;
}

/** The finding of a request that must not pass whatever is tried again. */
export function deny(code: RefusalCode, message: string): Finding {
  return { outcome: 'deny', code, message };
}

/** The finding of a request that may pass unchanged later. */
export function retry(code: RefusalCode, message: string): Finding {
  return { outcome: 'retry', code, message };
}

function checkClosed<S>(step: GuardStep<S>, state: S): Finding | undefined {
  try {
    return step.check(state);
  } catch {
    return deny('guard_failure', `The guard step ${step.name} could not decide, so the request is refused.`);
  }
}
