/** May these steps be done: user ∩ workload ∩ task, purpose, prohibitions, approvals. */
import type { SkillContract } from '#contracts/skill.ts';
import type { PlanCheck, PlannedStep, Report } from './context.ts';

export const checkPermissions: PlanCheck = ({ goal, snapshot, planned }, report) => {
  if (!snapshot.policy.purposes.includes(goal.purpose))
    report('PERMISSION_PURPOSE', '', { expected: listed(snapshot.policy.purposes), got: goal.purpose });
  const user = new Set(snapshot.policy.userActions);
  const workload = new Set(snapshot.policy.workloadActions);
  const asked = new Set(goal.requestedOutputs.map(({ kind }) => kind));
  for (const { step, at } of planned)
    for (const [index, action] of step.actions.entries()) {
      const pointer = `${at}/actions/${index}`;
      if (!user.has(action)) report('PERMISSION_USER', pointer, { expected: 'an action of the user', got: action });
      if (!workload.has(action))
        report('PERMISSION_WORKLOAD', pointer, { expected: 'an action of the supervisor', got: action });
    }
  for (const entry of planned) {
    checkProhibited(goal.prohibitedActions, entry, report);
    if (entry.skill === undefined) continue;
    checkTask(entry, entry.skill, report);
    if (entry.skill.risk === 'effect') checkEffect(entry, entry.skill, { asked, report });
    if (!entry.skill.purposes.includes(goal.purpose))
      report('PERMISSION_PURPOSE', `${entry.at}/skillId`, {
        expected: listed(entry.skill.purposes),
        got: goal.purpose,
      });
    const wanted = approvalNeeded(entry.skill);
    if (APPROVALS.indexOf(entry.step.approval) < APPROVALS.indexOf(wanted))
      report('APPROVAL_MISSING', `${entry.at}/approval`, { expected: `at least ${wanted}`, got: entry.step.approval });
  }
};

/** From the weakest to the strongest. */
const APPROVALS: readonly SkillContract['approval'][] = ['none', 'policy', 'person', 'quorum'];

/** The skill's own rule, and for an effect at least a policy as the named approver. */
function approvalNeeded(skill: SkillContract): SkillContract['approval'] {
  const effect = skill.risk === 'effect' || skill.sideEffect === 'external';
  return skill.approval === 'none' && effect ? 'policy' : skill.approval;
}

/** Every action the skill needs to do its work, and none that it does not have. */
function checkTask({ step, at }: PlannedStep, skill: SkillContract, report: Report): void {
  const lawful = new Set([...skill.actions, ...skill.effectActions]);
  const needed = skill.risk === 'effect' ? lawful : new Set(skill.actions);
  for (const [index, action] of step.actions.entries())
    if (!lawful.has(action))
      report('PERMISSION_ACTION', `${at}/actions/${index}`, { expected: listed([...lawful]), got: action });
  const missing = [...needed].filter((action) => !step.actions.includes(action));
  if (missing.length > 0)
    report('PERMISSION_ACTION', `${at}/actions`, {
      expected: `also ${listed(missing)}`,
      got: listed(step.actions),
    });
}

/** An effect is done because the goal asks for its outcome, never on the way to something else; and it is one act on one resource. */
function checkEffect(
  { step, at }: PlannedStep,
  skill: SkillContract,
  by: { readonly asked: ReadonlySet<string>; readonly report: Report },
): void {
  if (!skill.produces.some(({ kind }) => by.asked.has(kind)))
    by.report('EFFECT_UNASKED', `${at}/skillId`, {
      expected: `an outcome that the goal asks for, of ${listed([...by.asked])}`,
      got: step.skillId,
    });
  if (skill.resources.length !== 1 || skill.effectActions.length !== 1)
    by.report('EFFECT_RESOURCE', `${at}/skillId`, {
      expected: 'one effect action on one resource',
      got: `${skill.effectActions.length} actions on ${skill.resources.length} resources`,
    });
}

/** A step is as prohibited as its skill is, whatever it asks for. */
function checkProhibited(prohibited: readonly string[], { step, at, skill }: PlannedStep, report: Report): void {
  const reached = new Set([...step.actions, ...(skill?.actions ?? []), ...(skill?.effectActions ?? [])]);
  for (const action of prohibited)
    if (reached.has(action))
      report('ACTION_PROHIBITED', `${at}/skillId`, { expected: `no skill with ${action}`, got: step.skillId });
}

function listed(values: readonly string[]): string {
  return values.join(', ');
}
