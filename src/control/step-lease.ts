/** The work lease of one step: what exactly this attempt may do, and nothing else. Source: LEASE "Minting", INV-10. */
import type { Json, StepInput } from './step-input.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { LeaseId } from '#contracts/ids.ts';
import { LEASE_LIFETIME_S_DEFAULT, type Bound, type LeaseClaims, type RootGrant } from '#contracts/lease.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { plannedRun } from '#kernel/planned-run.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { millisOf } from '#kernel/time.ts';
import type { Minted } from '#ports/issuer.ts';
import type { RunContext } from './run-context.ts';

export interface StepLeaseRequest {
  readonly state: RunState;
  readonly step: StepState;
  readonly attempt: number;
  readonly leaseId: LeaseId;
  readonly input: StepInput;
  readonly at: string;
  readonly deadlineAt: string;
}

/**
 * Mints for the step's team: its actions, resources and data classes, each input value bounded as it is, narrowable once to the team's own
 * tool servers if the skill has tools. Throws ERR_LEASE or what the issuer refuses with.
 */
export function mintStepLease(context: Pick<RunContext, 'issuer' | 'grants'>, request: StepLeaseRequest): Minted {
  const { state, step, attempt, leaseId, input } = request;
  const run = plannedRun(state);
  const { team, actions, stepId } = step.definition;
  const card = run?.accepted.cards.find((candidate) => candidate.team === team);
  const policyDigest = run?.accepted.teamPolicyDigests[team];
  if (run === undefined || card === undefined || policyDigest === undefined)
    throw refused(`Step ${stepId} has no accepted card and policy of team ${team} to be leased for.`);
  const { goal, accepted } = run;
  const { skill } = step;
  return context.issuer.mintWork({
    leaseId,
    grant: grantOf(context, state),
    tenant: state.ref.tenant,
    runId: state.ref.runId,
    stepId,
    attempt,
    audience: card.audience,
    detail: {
      locations: toolLocations(skill, card.toolAudiences ?? {}),
      actions: [...actions],
      resources: input.resources.length > 0 ? [...input.resources] : [`skill:${skill.skillId}`],
      datatypes: [...skill.datatypes],
      purpose: goal.purpose,
      bounds: { language: { exact: goal.statement.language }, ...boundsOf(input.input) },
    },
    planDigest: accepted.planDigest,
    policyDigest,
    prohibitedActions: goal.prohibitedActions,
    delegationDepthMax: skill.toolContracts.length > 0 ? 1 : 0,
    use: useOf(skill, step.definition.budget.toolCallCountMax),
    lifetimeS: lifetimeS(request),
  });
}

/** The grant of the person on whose behalf the run is; throws ERR_DENIED when they have none any more. */
export function grantOf(context: Pick<RunContext, 'grants'>, state: RunState): RootGrant {
  const subject = state.goal?.requestedBy ?? '';
  const grant = context.grants(subject, state.ref.tenant);
  if (grant === undefined)
    throw new CaseOpsError('ERR_DENIED', `${subject} has no grant for tenant ${state.ref.tenant} any more.`, {
      at: 'control',
    });
  return grant;
}

/** The audiences of the tool servers that the skill names; to no other may the lease be narrowed. */
function toolLocations(skill: SkillContract, audiences: Readonly<Record<string, string>>): string[] {
  const servers = new Set(skill.toolContracts.map(({ server }) => server));
  return [...servers].flatMap((server) => (Object.hasOwn(audiences, server) ? [audiences[server] ?? ''] : []));
}

/** Read by the team in one send. As a parent it is good for one exchange per tool server, each for the step's calls. */
function useOf(skill: SkillContract, toolCallCountMax: number): LeaseClaims['use'] {
  const servers = new Set(skill.toolContracts.map(({ server }) => server));
  const count = servers.size * toolCallCountMax;
  return skill.risk === 'effect' || count < 2 ? 'single' : `count:${count}`;
}

/** Each value as it is. A structured value cannot be bounded and so is not leased: the team refuses it. */
function boundsOf(input: Readonly<Record<string, Json>>): Record<string, Bound> {
  const bounds: Record<string, Bound> = {};
  for (const [name, value] of Object.entries(input)) {
    if (isScalar(value)) bounds[name] = { exact: value };
    else if (Array.isArray(value)) {
      const items = value.filter(isScalar);
      if (items.length === value.length) bounds[name] = { subset: items };
    }
  }
  return bounds;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Until the attempt's deadline and a second, at most 120 s. */
function lifetimeS({ at, deadlineAt }: StepLeaseRequest): number {
  const leftS = Math.ceil((millisOf(deadlineAt) - millisOf(at)) / 1_000) + 1;
  return Math.max(1, Math.min(LEASE_LIFETIME_S_DEFAULT, leftS));
}

function refused(message: string): CaseOpsError {
  return new CaseOpsError('ERR_LEASE', message, { at: 'control' });
}
