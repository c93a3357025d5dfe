/** Dispatch revalidation: just before a step is sent, is the team still the one that was planned with? Source: DESIGN §3.2. */
import type { ErrorRecord } from '#contracts/error.ts';
import type { Digest } from '#contracts/ids.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from '#kernel/digest.ts';
import type { PlannedRun } from '#kernel/planned-run.ts';
import type { StepState } from '#kernel/run-state.ts';
import { cardChange } from './capability-directory.ts';
import { controlError, type RunContext } from './run-context.ts';

/**
 * Undefined when endpoint key, audience, workload, protocol, the skill's contract and the team's policy are as in the accepted plan. Else the
 * reason: unreachable may be tried again, a change may not.
 */
export async function assertStillPlanned(by: {
  readonly context: RunContext;
  readonly run: PlannedRun;
  readonly step: StepState;
  readonly signal: AbortSignal;
}): Promise<ErrorRecord | undefined> {
  const { context, run, step, signal } = by;
  const { team, stepId, skillId, skillVersion } = step.definition;
  const found = await context.directory.find(team, signal);
  if (!found.ok) return found.error;
  const { card, skills, policyDigest } = found.announcement;
  const planned = run.accepted.cards.find((candidate) => candidate.team === team);
  const change = planned === undefined ? 'card' : cardChange(planned, card);
  if (change !== undefined)
    return changed('ERR_DENIED', `Team ${team} of step ${stepId} has another ${change} than planned.`);
  const skill = skills.find((candidate) => candidate.skillId === skillId && candidate.version === skillVersion);
  if (skill === undefined || !skill.available || contractDigest(skill) !== contractDigest(step.skill))
    return contractMoved(
      step,
      skills.filter((candidate) => candidate.skillId === skillId && candidate.available),
    );
  if (policyDigest !== run.accepted.teamPolicyDigests[team])
    return changed('ERR_POLICY', `Team ${team} has another policy than when step ${stepId} was planned.`);
  return undefined;
}

/** The team is there, and offers other versions of the skill, or none. */
function contractMoved(step: StepState, offered: readonly SkillContract[]): ErrorRecord {
  const { team, stepId, skillId, skillVersion } = step.definition;
  const got = offered.map((skill) => `${skill.version} ${contractDigest(skill)}`).join(', ') || 'not offered';
  const expected = `${skillVersion} ${contractDigest(step.skill)}`;
  return moved({
    message: `Team ${team} of step ${stepId} has another contract of skill ${skillId} ${skillVersion} than planned.`,
    field: { what: `skill ${team}/${skillId}`, expected, got: got.slice(0, 256) },
  });
}

/** This deployment has no such team at all. */
export function teamGone({ definition: { team, stepId } }: StepState): ErrorRecord {
  return moved({
    message: `Team ${team} of step ${stepId} is not configured in this process.`,
    field: { what: `team ${team}`, expected: 'a team of this deployment', got: 'none' },
  });
}

function moved(said: {
  readonly message: string;
  readonly field: { readonly what: string; readonly expected: string; readonly got: string };
}): ErrorRecord {
  const error = controlError('ERR_CONTRACT_MOVED', 'conflict', { message: said.message, retryable: false });
  return { ...error, detail: { moved: [{ ...said.field }] } };
}

function changed(code: 'ERR_DENIED' | 'ERR_POLICY', message: string): ErrorRecord {
  return controlError(code, 'denied', { message, retryable: false });
}

/** Contracts are frozen and compared at every dispatch: each object is hashed once. */
const digests = new WeakMap<SkillContract, Digest>();

function contractDigest(skill: SkillContract): Digest {
  const known = digests.get(skill) ?? digestOf(skill);
  digests.set(skill, known);
  return known;
}
