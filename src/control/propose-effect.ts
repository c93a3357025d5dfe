/**
 * Puts the action of an effect step before its approvers: canonical action, the view rendered from it, the evidence it rests on, and the
 * policy's terms. Control never touches a target; the writer reads for it. Source: DESIGN §3.10.
 */
import type { CommandOf, Todo } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { type Evidence, evidenceKey } from '#contracts/evidence.ts';
import type { ApprovalId, StepId } from '#contracts/ids.ts';
import { PROPOSAL_VERSION, type Proposal } from '#contracts/proposal.ts';
import { actionDigest } from '#kernel/action-digest.ts';
import { renderActionView, viewDigest } from '#kernel/action-view.ts';
import { resolveInputs } from '#kernel/inputs.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { millisOf, timestampOf } from '#kernel/time.ts';
import type { ApprovalPolicy, ApprovalTerms } from '#ports/approval-policy.ts';
import type { EffectWriter, PreparedAction } from '#ports/effect-writer.ts';
import { errorOf } from './refusal.ts';
import type { RunContext } from './run-context.ts';

/** What effects need beside the rest of the run loop. */
export interface EffectParts {
  readonly writer: EffectWriter;
  readonly policy: ApprovalPolicy;
}

export type EffectContext = Pick<RunContext, 'driver' | 'clock' | 'ids' | 'workload'> & EffectParts;

/**
 * Reads the live resource, then requests the approval; where the policy itself approves, its decision follows. An effect that is there
 * already under the same key settles the step instead. Throws CaseOpsError when the action cannot be proposed.
 */
export async function proposeEffect(
  context: EffectContext,
  state: RunState,
  by: { readonly stepId: StepId; readonly signal: AbortSignal },
): Promise<ApprovalId | undefined> {
  const step = state.steps.get(by.stepId);
  const { accepted } = state;
  if (step === undefined || accepted === undefined)
    throw new CaseOpsError('ERR_STATE', `Run ${state.ref.runId} has no step ${by.stepId} to propose.`, {
      at: 'control',
    });
  const prepared = await prepare(context.writer, state, { step, signal: by.signal });
  const { action, liveVersion } = prepared;
  if (await context.writer.replay(state.ref, { stepId: by.stepId, action }, by.signal)) return undefined;
  if (liveVersion !== action.expectedVersion)
    throw new CaseOpsError(
      'ERR_EFFECT_PRECONDITION',
      `Step ${by.stepId} asks for ${action.resource} at version ${action.expectedVersion}; it is at ${liveVersion}.`,
      { at: 'control' },
    );
  const terms = context.policy.terms(action, step.definition.approval);
  const proposal = proposalOf(context, state, { step, prepared, terms });
  const requested = await context.driver.deliver(state.ref, {
    kind: 'requestApproval',
    at: context.clock.now(),
    actor: context.workload,
    stepId: by.stepId,
    planVersion: accepted.plan.version,
    proposal,
  });
  if (!requested.ok) throw errorOf(requested.error);
  if (proposal.rule.mode === 'policy')
    await approveByPolicy(context, state, { proposal, reason: terms.approves ?? '' });
  return proposal.approvalId;
}

type Prepared = Extract<PreparedAction, { readonly ok: true }>;

async function prepare(
  writer: EffectWriter,
  state: RunState,
  of: { readonly step: StepState; readonly signal: AbortSignal },
): Promise<Prepared> {
  const { definition, skill } = of.step;
  const { stepId } = definition;
  const inputs = resolveInputs(state, stepId);
  if (!inputs.ok) throw errorOf(inputs.error);
  const [action] = skill.effectActions;
  const [resource] = inputs.resources;
  if (action === undefined || resource === undefined)
    throw new CaseOpsError('ERR_EFFECT_PARAMETERS', `Skill ${skill.skillId} names no effect action and resource.`, {
      at: 'control',
    });
  const request = {
    ref: state.ref,
    stepId,
    requestedBy: state.goal?.requestedBy ?? '',
    action,
    resource,
    parameters: inputs.input,
  };
  const prepared = await writer.prepare(request, of.signal);
  if (!prepared.ok) throw errorOf(prepared.error);
  return prepared;
}

function proposalOf(
  { clock, ids, policy }: EffectContext,
  state: RunState,
  of: { readonly step: StepState; readonly prepared: Prepared; readonly terms: ApprovalTerms },
): Proposal {
  const { step, prepared, terms } = of;
  const { action, presentational, before } = prepared;
  const view = renderActionView(action, before);
  if (view === undefined)
    throw new CaseOpsError('ERR_EFFECT_PARAMETERS', `The action of step ${action.stepId} is too large to be shown.`, {
      at: 'control',
    });
  const { approval } = step.definition;
  const byPolicy = approval === 'policy' && terms.approves !== undefined;
  return {
    contractVersion: PROPOSAL_VERSION,
    approvalId: ids.next('apv'),
    action,
    actionDigest: actionDigest(action),
    presentational,
    before,
    view,
    viewDigest: viewDigest(view),
    rule: {
      mode: byPolicy ? 'policy' : terms.quorumCount > 1 ? 'quorum' : 'person',
      role: terms.role,
      quorumCount: byPolicy ? 1 : terms.quorumCount,
      policyName: policy.name,
      policyDigest: policy.digest,
    },
    evidence: [...evidenceBehind(state, step)],
    expiresAt: timestampOf(millisOf(clock.now()) + terms.expiresInMs),
  };
}

/** Of all settled steps that this one rests on, each observation once. */
function evidenceBehind(state: RunState, step: StepState): Iterable<Evidence> {
  const found = new Map<string, Evidence>();
  const queue = [step];
  const seen = new Set(queue);
  for (const { definition, result } of queue) {
    for (const item of result?.evidence ?? []) if (!found.has(evidenceKey(item))) found.set(evidenceKey(item), item);
    for (const { stepId } of definition.dependsOn) {
      const upstream = state.steps.get(stepId);
      if (upstream === undefined || seen.has(upstream)) continue;
      seen.add(upstream);
      queue.push(upstream);
    }
  }
  // The run keeps the first observation of a record version; a later one of the same is the same evidence.
  return [...found.values()].filter((item) => state.evidence.get(evidenceKey(item))?.digest === item.digest);
}

/** The policy is the named principal, and its decision is recorded as any other. */
async function approveByPolicy(
  context: EffectContext,
  state: RunState,
  of: { readonly proposal: Proposal; readonly reason: string },
): Promise<void> {
  const { proposal, reason } = of;
  const { rule, approvalId, actionDigest: digest, viewDigest: seen } = proposal;
  const at = context.clock.now();
  const command: CommandOf<'decideApproval'> = {
    kind: 'decideApproval',
    at,
    actor: context.workload,
    approvalId,
    policyDigest: context.policy.digest,
    decision: {
      by: `policy:${rule.policyName}@${rule.policyDigest}`,
      role: rule.role,
      trainingRef: null,
      channel: 'policy',
      disposition: 'approved',
      reason,
      evidenceInView: [],
      actionDigest: digest,
      viewDigest: seen,
      decidedAt: at,
    },
  };
  const decided = await context.driver.deliver(state.ref, command);
  if (!decided.ok) throw errorOf(decided.error);
}

/** Whether the todo stands still for people: decided in the unit of work that leaves nothing else to do. */
export function prepareAwait(workload: string, todo: Todo, at: string): CommandOf<'awaitPeople'> | undefined {
  return todo.kind === 'await' ? { kind: 'awaitPeople', at, actor: workload } : undefined;
}
