/**
 * The invariants of one run, watched from outside as its events become durable. Keeps its own account of the run, from nothing but the
 * events; the kernel's state and its own assertions are not asked. Source: DESIGN §4 "Invariants".
 */
import type { EventKind, RunEvent } from '#contracts/event.ts';
import { APPROVAL_ENTRIES } from './approval-audit.ts';
import { REVISION_ENTRIES } from './revision-audit.ts';
import {
  enter,
  type Entries,
  type EventOf,
  layOut,
  type RunAccount,
  type RunAuditOptions,
  type StepAccount,
} from './run-account.ts';
import type { Report } from './violation.ts';

/** Checks the event against the account, then enters it. */
export function auditEvent(run: RunAccount, event: RunEvent, options: RunAuditOptions): void {
  const { report } = options;
  if (event.seq !== run.seq + 1 || event.prev !== run.hash)
    report('INV-11', `Event ${event.seq} of ${run.runId} does not follow event ${run.seq}.`);
  if (event.tenant !== run.tenant) report('INV-14', `Event ${event.seq} of ${run.runId} is of tenant ${event.tenant}.`);
  if (run.ended && !RECORDS.has(event.kind)) report('INV-08', `${event.kind} changes ${run.runId}, which has ended.`);
  run.seq = event.seq;
  run.hash = event.hash;
  enter(ENTRIES, run, { event, at: options });
  enter(APPROVAL_ENTRIES, run, { event, at: report });
}

/** What may still be recorded of a run that has ended. */
const RECORDS: ReadonlySet<EventKind> = new Set([
  'result.stale',
  'result.duplicate',
  'result.late',
  'effect.sent',
  'effect.confirmed',
  'effect.failed',
  'effect.unknown',
  'effect.reconciled',
  'effect.compensated',
]);

const ENTRIES: Entries<RunAuditOptions> = {
  'run.received': (run, { seq }, { report }) => {
    if (seq !== 1) report('INV-09', `${run.runId} is received again at event ${seq}.`);
  },
  'goal.frozen': (run, event, { report }) => freeze(run, event, report),
  'plan.accepted': (run, event, { report }) => plan(run, event, report),
  'step.dispatched': (run, event, { report }) => dispatch(run, event, report),
  'step.reused': (run, { body }, { report }) => ready(run, body.stepId, { report, what: 'reused' }),
  'step.settled': settle,
  ...REVISION_ENTRIES,
  'step.skipped': (run, event, { report }) => skip(run, event, report),
  'budget.reserved': (run, event, { report }) => reserve(run, event, report),
  'budget.settled': (run, event, { report }) => release(run, event, report),
  'answer.composed': (run, event, { report }) => answer(run, event, report),
  'cancel.requested': (run) => {
    run.cancelled = true;
  },
  'run.blocked': (run, { body }) => {
    run.blockedCode = body.code;
  },
  'run.unblocked': (run) => {
    run.blockedCode = undefined;
  },
  'run.ended': (run) => {
    run.ended = true;
  },
};

function freeze(run: RunAccount, { body: { goal } }: EventOf<'goal.frozen'>, report: Report): void {
  if (run.goalSeen) report('INV-09', `The goal of ${run.runId} is frozen a second time.`);
  if (goal.tenant !== run.tenant) report('INV-14', `The goal of ${run.runId} is of tenant ${goal.tenant}.`);
  run.goalSeen = true;
  run.requestedBy = goal.requestedBy;
  run.budget = goal.budget;
}

function plan(run: RunAccount, { body }: EventOf<'plan.accepted'>, report: Report): void {
  if (body.plan.version <= run.planVersion)
    report('INV-09', `${run.runId} takes plan version ${body.plan.version} after ${run.planVersion}.`);
  run.planVersion = body.plan.version;
  layOut(run, body);
}

/** INV-02, looked up dependency by dependency. */
function ready(run: RunAccount, stepId: string, by: { readonly report: Report; readonly what: string }): void {
  const step = run.steps.get(stepId);
  if (step === undefined) return by.report('INV-02', `Step ${stepId} of ${run.runId} is ${by.what} and not planned.`);
  for (const { stepId: upstream, strength } of step.plan.dependsOn) {
    const outcome = run.steps.get(upstream)?.outcome;
    const accepted = [...(step.skill?.acceptedResults ?? []), 'completed'].some((one) => one === outcome);
    if (outcome === undefined || (strength === 'strong' && !accepted))
      by.report('INV-02', `Step ${stepId} of ${run.runId} is ${by.what} while ${upstream} is ${outcome ?? 'open'}.`);
  }
}

function dispatch(run: RunAccount, { body }: EventOf<'step.dispatched'>, report: Report): void {
  const { stepId, attempt, dispatchId, planVersion } = body;
  ready(run, stepId, { report, what: 'dispatched' });
  if (run.cancelled) report('INV-07', `Step ${stepId} of ${run.runId} is dispatched after its cancellation.`);
  const step = run.steps.get(stepId);
  if (step === undefined) return;
  if (planVersion !== run.planVersion)
    report('INV-08', `Step ${stepId} of ${run.runId} is dispatched under plan ${planVersion}, not ${run.planVersion}.`);
  if (step.outcome !== undefined)
    report('INV-05', `Step ${stepId} of ${run.runId} is dispatched though ${step.outcome}.`);
  step.attempt = attempt;
  step.dispatchId = dispatchId;
  run.dispatched.add(dispatchId);
}

function settle(run: RunAccount, { body }: EventOf<'step.settled'>, { report, ownerOf }: RunAuditOptions): void {
  const { result, dispatchId } = body;
  const { stepId, status, evidence } = result;
  const step = run.steps.get(stepId);
  if (step === undefined) return report('INV-09', `Step ${stepId} of ${run.runId} is settled and not planned.`);
  if (step.outcome !== undefined) report('INV-05', `Step ${stepId} of ${run.runId} is settled again as ${status}.`);
  if (result.planVersion !== run.planVersion)
    report('INV-08', `Step ${stepId} of ${run.runId} takes a result of plan ${result.planVersion}.`);
  conforms(run, step, { body, report });
  const isEffect = step.skill?.risk === 'effect';
  if (result.artifactRef !== undefined && !isEffect && dispatchId !== undefined && dispatchId !== step.dispatchId)
    report(
      'INV-09',
      `Step ${stepId} of ${run.runId} takes the result of dispatch ${dispatchId}, not ${step.dispatchId}.`,
    );
  if (result.artifactRef !== undefined && !isEffect && result.producer !== step.producer)
    report('INV-09', `Step ${stepId} of ${run.runId} is written by ${result.producer}, not by ${step.producer}.`);
  for (const item of evidence) {
    run.evidence.add(item.evidenceId);
    const owner = ownerOf?.(item);
    if (owner !== undefined && owner !== run.tenant)
      report('INV-14', `Step ${stepId} of ${run.runId} (${run.tenant}) rests on ${item.anchor} of ${owner}.`);
  }
  step.outcome = status;
  step.resultHash = result.resultHash;
}

/** INV-01. */
function conforms(
  run: RunAccount,
  step: StepAccount,
  { body, report }: { readonly body: EventOf<'step.settled'>['body']; readonly report: Report },
): void {
  const { stepId, status, data, dataDigest, evidence } = body.result;
  const has = data !== undefined || dataDigest !== undefined;
  if (status === 'no_data' && has) report('INV-01', `Step ${stepId} of ${run.runId} found nothing and has data.`);
  if (status !== 'completed') return;
  if (!has) report('INV-01', `Step ${stepId} of ${run.runId} is completed without data.`);
  const countMin = step.skill?.evidence.countMin ?? 0;
  if (evidence.length < countMin)
    report('INV-01', `Step ${stepId} of ${run.runId} is completed on ${evidence.length} pieces of evidence.`);
  const required: unknown = step.skill?.artifact.schema['required'];
  for (const name of Array.isArray(required) ? required : [])
    if (has && data !== undefined && !(typeof data === 'object' && data !== null && Object.hasOwn(data, String(name))))
      report('INV-01', `Step ${stepId} of ${run.runId} is completed without ${String(name)}.`);
}

function skip(run: RunAccount, { body }: EventOf<'step.skipped'>, report: Report): void {
  const step = run.steps.get(body.stepId);
  if (step?.outcome !== undefined) report('INV-05', `Step ${body.stepId} of ${run.runId} is skipped, ${step.outcome}.`);
  if (step !== undefined) step.outcome = 'skipped';
}

/** INV-06: what is used and reserved is inside the goal's budget at each event. */
function reserve(run: RunAccount, { body }: EventOf<'budget.reserved'>, report: Report): void {
  const step = run.steps.get(body.stepId);
  if (step?.reserved !== undefined) report('INV-06', `Step ${body.stepId} of ${run.runId} reserves twice.`);
  if (step !== undefined) step.reserved = body;
  withinBudget(run, report);
}

function release(run: RunAccount, { body }: EventOf<'budget.settled'>, report: Report): void {
  const step = run.steps.get(body.stepId);
  const { toolCallCount = 0, modelTokenCount = 0 } = step?.reserved ?? {};
  if (body.reserved.toolCallCount !== toolCallCount || body.reserved.modelTokenCount !== modelTokenCount)
    report('INV-06', `Step ${body.stepId} of ${run.runId} releases another sum than it reserved.`);
  if (step !== undefined) step.reserved = undefined;
  run.usedToolCalls += body.used.toolCallCount;
  run.usedTokens += body.used.modelTokenCount;
  withinBudget(run, report);
}

function withinBudget(run: RunAccount, report: Report): void {
  const reserved = [...run.steps.values()].flatMap((step) => step.reserved ?? []);
  const calls = reserved.reduce((sum, one) => sum + one.toolCallCount, run.usedToolCalls);
  const tokens = reserved.reduce((sum, one) => sum + one.modelTokenCount, run.usedTokens);
  const { toolCallCountMax = 0, modelTokenCountMax = 0 } = run.budget ?? {};
  if (calls > toolCallCountMax || tokens > modelTokenCountMax)
    report(
      'INV-06',
      `${run.runId} has ${calls} tool calls of ${toolCallCountMax}, ${tokens} tokens of ${modelTokenCountMax}.`,
    );
}

/** INV-03. */
function answer(run: RunAccount, { body }: EventOf<'answer.composed'>, report: Report): void {
  if (run.answered) report('INV-09', `${run.runId} is answered a second time.`);
  run.answered = true;
  for (const { claimId, kind, evidenceIds, uncertainty, proof } of body.answer.claims) {
    const bound = evidenceIds.length > 0 && (kind !== 'fact' || evidenceIds.every((id) => run.evidence.has(id)));
    const marked = kind === 'inference' && uncertainty !== undefined;
    const proved = kind === 'absence' && proof?.holds === true;
    if (!bound && !marked && !proved) report('INV-03', `Claim ${claimId} of ${run.runId} is bound to nothing it has.`);
  }
}
