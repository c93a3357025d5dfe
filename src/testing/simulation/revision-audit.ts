/** Conflicts and later versions of a plan, watched from outside: INV-05, INV-06 and INV-09 where a run's plan is taken up anew. */
import type { RunEvent } from '#contracts/event.ts';
import { type Entries, layOut, type RunAccount, type RunAuditOptions } from './run-account.ts';

type Body<K extends RunEvent['kind']> = Extract<RunEvent, { readonly kind: K }>['body'];

export const REVISION_ENTRIES: Entries<RunAuditOptions> = {
  'result.conflicted': (run, { body: { stepId, resultHash } }) => {
    const known = run.conflicts.get(stepId) ?? [run.steps.get(stepId)?.resultHash ?? ''];
    run.conflicts.set(stepId, resultHash === undefined ? known : [...known, resultHash]);
  },
  'conflict.decided': (run, { body }, options) => decide(run, body, options),
  'plan.revised': (run, { body }, { report }) => revise(run, body, report),
};

/** Only one of the results that contradict each other can hold. */
function decide(run: RunAccount, body: Body<'conflict.decided'>, { report, ownerOf }: RunAuditOptions): void {
  const { stepId, held, adopted } = body;
  const step = run.steps.get(stepId);
  if (run.conflicts.get(stepId)?.includes(held) !== true || step === undefined)
    return report('INV-05', `Step ${stepId} of ${run.runId} takes ${held}, which nobody delivered.`);
  run.conflicts.delete(stepId);
  if (adopted === undefined) {
    if (step.resultHash !== held)
      report('INV-05', `Step ${stepId} of ${run.runId} keeps ${held} and was settled otherwise.`);
    return;
  }
  const { result } = adopted;
  if (result.resultHash !== held) report('INV-05', `Step ${stepId} of ${run.runId} takes ${held} and keeps another.`);
  if (result.producer !== step.producer)
    report('INV-09', `Step ${stepId} of ${run.runId} is written by ${result.producer}, not by ${step.producer}.`);
  for (const item of result.evidence) {
    run.evidence.add(item.evidenceId);
    const owner = ownerOf?.(item);
    if (owner !== undefined && owner !== run.tenant)
      report('INV-14', `Step ${stepId} of ${run.runId} (${run.tenant}) rests on ${item.anchor} of ${owner}.`);
  }
  step.outcome = result.status;
  step.resultHash = held;
}

/** What is kept was over; what is not begins anew, and has nothing reserved any more. */
function revise(run: RunAccount, body: Body<'plan.revised'>, report: RunAuditOptions['report']): void {
  if (body.plan.version !== run.planVersion + 1)
    report('INV-09', `${run.runId} takes plan version ${body.plan.version} after ${run.planVersion}.`);
  run.planVersion = body.plan.version;
  for (const stepId of body.kept)
    if (run.steps.get(stepId)?.outcome === undefined)
      report('INV-09', `Step ${stepId} of ${run.runId} is kept by the next plan and is not over.`);
  for (const [stepId, step] of run.steps) {
    if (body.kept.includes(stepId)) continue;
    if (step.reserved !== undefined)
      report('INV-06', `Step ${stepId} of ${run.runId} begins anew and keeps a reservation.`);
    run.steps.delete(stepId);
  }
  layOut(run, body);
}
