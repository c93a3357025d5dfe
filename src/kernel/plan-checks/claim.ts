/** Is evidence declared for each sentence of the goal: by steps that produce its output and may carry the anchors its slots need. INV-03. */
import type { ClaimTemplate } from '#contracts/claim.ts';
import type { PlanCheck, PlanContext, PlannedStep, Report } from './context.ts';
import { uncovered } from './coverage.ts';

export const checkClaims: PlanCheck = (context, report) => {
  const { plan, goal, producers } = context;
  const templates = new Map(goal.claims.map((template) => [template.key, template]));
  const declared = new Set<string>();
  for (const [index, { key, stepIds }] of plan.claims.entries()) {
    const template = templates.get(key);
    const expected = declared.has(key) ? 'each sentence once' : 'a sentence of the goal';
    if (template === undefined || declared.has(key))
      report('CLAIM_UNDECLARED', `/claims/${index}/key`, { expected, got: key });
    else checkDeclaration(context, report, { template, stepIds, at: `/claims/${index}/stepIds` });
    declared.add(key);
  }
  for (const { key, output } of goal.claims)
    if (output !== undefined && producers.has(output) && !declared.has(key))
      report('CLAIM_UNDECLARED', '/claims', { expected: `the steps that bear ${key}`, got: 'none' });
};

function checkDeclaration(
  context: PlanContext,
  report: Report,
  {
    template,
    stepIds,
    at,
  }: { readonly template: ClaimTemplate; readonly stepIds: readonly string[]; readonly at: string },
): void {
  const { output } = template;
  const bearing: PlannedStep[] = [];
  for (const [index, stepId] of stepIds.entries()) {
    const pointer = `${at}/${index}`;
    const entry = context.byId.get(stepId);
    if (entry === undefined || (output !== undefined && !produces(entry, output))) {
      const expected = output === undefined ? 'a step of the plan' : `a step that produces ${output}`;
      report('CLAIM_UNDECLARED', pointer, { expected, got: stepId });
      continue;
    }
    bearing.push(entry);
    checkAnchors(entry, template, (said) => report('CLAIM_EVIDENCE', pointer, said));
  }
  const producers = output === undefined ? undefined : context.producers.get(output);
  if (output === undefined || producers === undefined) return;
  if (bearing.length === 0) report('CLAIM_UNDECLARED', at, { expected: `a step that produces ${output}`, got: 'none' });
  const per = context.perValue.get(output);
  if (per === undefined) return;
  // A value that no step produces at all is an OUTPUT_MISSING already.
  const missing = new Set(uncovered(per.values, per.coverage, producers));
  for (const value of uncovered(per.values, per.coverage, bearing))
    if (!missing.has(value))
      report('CLAIM_UNDECLARED', at, {
        expected: `the step for ${per.entity} ${value}`,
        got: 'none',
      });
}

function produces({ skill }: PlannedStep, output: string): boolean {
  return skill !== undefined && skill.produces.some(({ kind }) => kind === output);
}

function checkAnchors(
  { skill }: PlannedStep,
  { key, slots }: ClaimTemplate,
  report: (said: { readonly expected: string; readonly got: string }) => void,
): void {
  if (skill === undefined) return;
  const { skillId, evidence } = skill;
  const needed = new Set(Object.values(slots).map(({ anchorType }) => anchorType));
  for (const anchorType of needed)
    if (!evidence.anchorTypes.includes(anchorType))
      report({
        expected: `a skill with evidence of ${anchorType} for ${key}`,
        got: `${skillId} with ${evidence.anchorTypes.join(', ')}`,
      });
}
