/**
 * What a team refuses by itself, before a run exists: its own contracts, its own workers, the goal's prohibitions, the input, the
 * resources and the time. The guard has checked the lease; nothing here widens it. Source: DESIGN §3.5.
 */
import { CaseOpsError, toErrorRecord, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import type { TeamDefinition, WorkerEndpoint } from '#ports/team-definition.ts';
import type { TaskSubmission } from '#ports/team-door.ts';

export type Admission =
  | { readonly ok: true; readonly skill: SkillContract; readonly endpoint: WorkerEndpoint }
  | { readonly ok: false; readonly error: ErrorRecord };

/** The skill and the worker for a submission, or the first reason to refuse it. */
export function admit(team: TeamDefinition, submission: TaskSubmission, nowMs: number): Admission {
  const { dispatch } = submission;
  try {
    assertBound(team, submission);
    const { skill, endpoint } = skillOf(team, dispatch);
    assertPermitted(skill, submission);
    assertInput(endpoint, submission);
    assertResources(skill, submission);
    const leftMs = Date.parse(dispatch.deadlineAt) - nowMs;
    if (leftMs <= 0 || leftMs < skill.minimumRuntimeMs)
      throw refusal(
        'ERR_DEADLINE',
        `Step ${dispatch.stepId} must be over at ${dispatch.deadlineAt}; skill ${skill.skillId} needs ${skill.minimumRuntimeMs} ms.`,
      );
    return { ok: true, skill, endpoint };
  } catch (error) {
    return { ok: false, error: toErrorRecord(error, { code: 'ERR_POLICY', at: 'team' }) };
  }
}

type Dispatched = TaskSubmission['dispatch'];

/** The dispatch says the same as the lease under which it came, and as the caller who was authenticated. */
function assertBound(team: TeamDefinition, { dispatch, caller, lease }: TaskSubmission): void {
  const { tenant, sub, task, plan_digest: planDigest } = lease.lease;
  const pairs: readonly (readonly [what: string, said: unknown, wanted: unknown])[] = [
    ['team', dispatch.team, team.name],
    ['tenant', dispatch.tenant, tenant],
    ['tenant of the caller', caller.tenant, tenant],
    ['subject', dispatch.subject, sub],
    ['subject of the caller', caller.subject, sub],
    ['run', dispatch.runId, task.run],
    ['step', dispatch.stepId, task.step],
    ['attempt', dispatch.attempt, task.attempt],
    ['plan', dispatch.planDigest, planDigest],
  ];
  for (const [what, said, wanted] of pairs)
    if (said !== wanted)
      throw refusal('ERR_LEASE', `The ${what} of dispatch ${dispatch.dispatchId} is not the one it is authorised for.`);
}

function skillOf(
  team: TeamDefinition,
  { skillId, skillVersion }: Dispatched,
): { readonly skill: SkillContract; readonly endpoint: WorkerEndpoint } {
  const known = team.skills.filter((candidate) => candidate.skillId === skillId);
  const skill = known.find(({ version }) => version === skillVersion);
  if (known.length === 0) throw refusal('ERR_NOT_FOUND', `Team ${team.name} has no skill ${skillId}.`);
  if (skill === undefined)
    throw refusal(
      'ERR_NOT_FOUND',
      `Team ${team.name} has skill ${skillId} in version ${known.map(({ version }) => version).join(' and ')}, not in version ${skillVersion}.`,
    );
  const endpoint = team.workers.find((worker) => worker.skillId === skillId && worker.skillVersion === skillVersion);
  if (endpoint === undefined || !skill.available)
    throw refusal('ERR_POLICY', `Team ${team.name} publishes skill ${skillId} but has no worker for it.`);
  return { skill, endpoint };
}

function assertPermitted(skill: SkillContract, { dispatch, lease }: TaskSubmission): void {
  const own = [...skill.actions, ...skill.effectActions];
  const prohibited = unique([...dispatch.actions, ...own]).filter((action) =>
    dispatch.forbiddenActions.includes(action),
  );
  if (prohibited.length > 0)
    throw refusal('ERR_POLICY', `The goal prohibits ${prohibited.join(', ')}, which skill ${skill.skillId} does.`);
  const foreign = dispatch.actions.filter((action) => !own.includes(action));
  if (foreign.length > 0) throw refusal('ERR_POLICY', `Skill ${skill.skillId} has no action ${foreign.join(', ')}.`);
  if (!skill.purposes.includes(dispatch.purpose))
    throw refusal('ERR_POLICY', `Skill ${skill.skillId} does not serve purpose ${dispatch.purpose}.`);
  const detail = lease.lease.authorization_details[0];
  const within =
    detail !== undefined &&
    detail.purpose === dispatch.purpose &&
    dispatch.actions.every((action) => detail.actions.includes(action)) &&
    dispatch.resources.every((resource) => detail.resources.includes(resource));
  if (!within)
    throw refusal(
      'ERR_LEASE',
      `Dispatch ${dispatch.dispatchId} asks for more than its lease ${lease.lease.jti} holds.`,
    );
}

function assertInput(endpoint: WorkerEndpoint, { dispatch }: TaskSubmission): void {
  if (digestOf(dispatch.input) !== dispatch.inputDigest)
    throw refusal('ERR_SCHEMA', `The input of dispatch ${dispatch.dispatchId} is not the one of its digest.`);
  const parsed = endpoint.parseInput(dispatch.input);
  if (!parsed.ok)
    throw refusal(
      'ERR_SCHEMA',
      `The input of dispatch ${dispatch.dispatchId} does not conform to skill ${endpoint.skillId} at ` +
        `${parsed.issues.map(({ pointer }) => pointer || '/').join(', ')}.`,
    );
}

/** The resources follow from the input by the skill's contract: a dispatch can name neither more nor other ones. */
function assertResources(skill: SkillContract, { dispatch }: TaskSubmission): void {
  const named = unique(
    skill.resources.flatMap(({ type, input }) => {
      const value = dispatch.input[input];
      const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
      return ids.map((id) => `${type}:${typeof id === 'string' ? id : ''}`);
    }),
  );
  const said = unique(dispatch.resources);
  if (named.length !== said.length || named.some((resource) => !said.includes(resource)))
    throw refusal(
      'ERR_POLICY',
      `The input of dispatch ${dispatch.dispatchId} names ${named.join(', ')}; the dispatch says ${said.join(', ')}.`,
    );
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

function refusal(code: ErrorCode, message: string): CaseOpsError {
  return new CaseOpsError(code, message, { at: 'team' });
}
