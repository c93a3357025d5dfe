/**
 * Whether a proposal is what its step may ask for: its action is the step's, permitted, on the step's own resource, its digests are
 * those of what it holds, and the view shows exactly what is approved. Source: DESIGN §3.10; INV-04, INV-14, INV-16.
 */
import { EFFECT_ACTION_BYTES_MAX } from '#contracts/effect-action.ts';
import type { ErrorCode, ErrorRecord } from '#contracts/error.ts';
import { evidenceKey } from '#contracts/evidence.ts';
import type { Proposal } from '#contracts/proposal.ts';
import { actionDigest, actionText } from './action-digest.ts';
import { renderActionView, viewDigest } from './action-view.ts';
import { failure } from './failure.ts';
import { resolveInputs } from './inputs.ts';
import type { PlannedRun } from './planned-run.ts';
import type { RunState, StepState } from './run-state.ts';
import { millisOf } from './time.ts';

export interface ProposedFor {
  readonly state: RunState;
  readonly run: PlannedRun;
  readonly step: StepState;
  readonly at: string;
}

/** The first reason why it may not be put before approvers; undefined when it may. */
export function checkProposal(proposal: Proposal, of: ProposedFor): ErrorRecord | undefined {
  for (const [code, check] of CHECKS) {
    const message = check(proposal, of);
    if (message !== undefined) return failure(code, `Proposal ${proposal.approvalId}: ${message}`);
  }
  return undefined;
}

type ProposalCheck = (proposal: Proposal, of: ProposedFor) => string | undefined;

const CHECKS: readonly (readonly [ErrorCode, ProposalCheck])[] = [
  ['ERR_STATE', checkIdentity],
  ['ERR_DENIED', checkPermitted],
  ['ERR_EFFECT_PARAMETERS', checkResource],
  ['ERR_EFFECT_PARAMETERS', checkParameters],
  ['ERR_APPROVAL_DIGEST', checkDigests],
  ['ERR_POLICY', checkRule],
  ['ERR_CLAIM_UNKNOWN_EVIDENCE', checkEvidence],
  ['ERR_APPROVAL_EXPIRED', checkExpiry],
];

function checkIdentity({ approvalId, action }: Proposal, { state, run, step }: ProposedFor): string | undefined {
  if (state.approvals.has(approvalId)) return 'the run has an approval of this id already.';
  const { tenant, runId, stepId, requestedBy } = action;
  const same = tenant === state.ref.tenant && runId === state.ref.runId && stepId === step.definition.stepId;
  if (!same) return `its action is of ${tenant}/${runId} step ${stepId}, not of this step.`;
  return requestedBy === run.goal.requestedBy
    ? undefined
    : `it was asked for by ${run.goal.requestedBy}, not ${requestedBy}.`;
}

function checkPermitted({ action: { action } }: Proposal, { run, step }: ProposedFor): string | undefined {
  if (run.goal.prohibitedActions.includes(action)) return `the goal prohibits ${action}.`;
  if (!step.skill.effectActions.includes(action)) return `skill ${step.skill.skillId} has no effect action ${action}.`;
  return step.definition.actions.includes(action) ? undefined : `step ${step.definition.stepId} may not ${action}.`;
}

/** The resource is one that the step's inputs name: nothing that came in by another way can redirect an effect. */
function checkResource({ action: { resource } }: Proposal, { state, step }: ProposedFor): string | undefined {
  const inputs = resolveInputs(state, step.definition.stepId);
  if (!inputs.ok) return inputs.error.message;
  return inputs.resources.includes(resource) ? undefined : `${resource} is none of the step's resources.`;
}

function checkParameters({ action, presentational }: Proposal): string | undefined {
  const both = Object.keys(presentational).find((name) => Object.hasOwn(action.parameters, name));
  if (both !== undefined) return `parameter ${both} is approved and presentational at once.`;
  const text = actionText(action);
  // No UTF-8 form is shorter than its UTF-16 length.
  if (text === undefined || text.length > EFFECT_ACTION_BYTES_MAX)
    return `its action has no canonical form of at most ${EFFECT_ACTION_BYTES_MAX} bytes.`;
  return undefined;
}

function checkDigests({ action, actionDigest: said, before, view, viewDigest: seen }: Proposal): string | undefined {
  if (actionDigest(action) !== said) return 'its action digest is not that of its action.';
  const rendered = renderActionView(action, before);
  if (rendered === undefined) return 'its action cannot be shown whole, and so cannot be approved.';
  if (viewDigest(rendered) !== seen || viewDigest(view) !== seen) return 'its view is not what its action shows.';
  return undefined;
}

const MODES = ['none', 'policy', 'person', 'quorum'] as const;

function checkRule({ rule }: Proposal, { step }: ProposedFor): string | undefined {
  const { approval } = step.definition;
  if (MODES.indexOf(rule.mode) < MODES.indexOf(approval))
    return `the step asks for approval by ${approval}; its rule is ${rule.mode}.`;
  const several = rule.quorumCount > 1;
  return several === (rule.mode === 'quorum')
    ? undefined
    : `its rule ${rule.mode} asks for ${rule.quorumCount} approvers; only a quorum asks for several.`;
}

function checkEvidence({ evidence }: Proposal, { state }: ProposedFor): string | undefined {
  const unknown = evidence.find((item) => state.evidence.get(evidenceKey(item))?.digest !== item.digest);
  return unknown === undefined ? undefined : `its evidence ${unknown.evidenceId} is none that the run accepted.`;
}

function checkExpiry({ expiresAt }: Proposal, { at }: ProposedFor): string | undefined {
  return millisOf(expiresAt) > millisOf(at) ? undefined : `it would expire at ${expiresAt}, before it is asked for.`;
}
