/** `caseops plan show|validate`: contract, plan and findings; nothing runs. */
import type { PlanPreview } from 'caseops';
import { caseNamed } from '../cases.ts';
import { EXIT } from '../exit-codes.ts';
import { withServer } from '../local-server.ts';
import { readPlan } from '../plan-file.ts';
import { print, printJson, printLines, table, type Format } from '../output.ts';

interface PlanOptions {
  readonly case: string;
  readonly as: string;
  readonly without: string;
  readonly output: Format;
}

export async function planShow(text: string, options: PlanOptions): Promise<number> {
  return preview({ text }, options);
}

export async function planValidate(file: string, options: PlanOptions & { readonly goal: string }): Promise<number> {
  return preview({ text: options.goal, plan: readPlan(file) }, options);
}

async function preview(body: Readonly<Record<string, unknown>>, options: PlanOptions): Promise<number> {
  const without = options.without.split(',').filter((team) => team !== '');
  return withServer({ as: options.as, case: caseNamed(options.case), without }, async (client) => {
    const made = await client.post<PlanPreview>('/plans', body);
    if (options.output === 'json') printJson(made);
    else if (options.output === 'jsonl') printLines([made]);
    else print(renderPreview(made));
    if (made.blocked !== null) return EXIT.waiting;
    return made.findings.length === 0 ? EXIT.ok : EXIT.refused;
  });
}

interface ShownStep {
  readonly stepId: string;
  readonly team: string;
  readonly skillId: string;
  readonly skillVersion: string;
  readonly required: boolean;
  readonly dependsOn: readonly { readonly stepId: string; readonly strength: string }[];
  readonly actions: readonly string[];
}

function renderPreview({ goal, blocked, plan, findings }: PlanPreview): string {
  const parts: string[] = [];
  if (goal !== null) {
    parts.push(
      table([
        ['goal', goal.kind],
        [
          'about',
          Object.entries(goal.entities)
            .map(([kind, value]) => `${kind}=${[value].flat().join(',')}`)
            .join(' '),
        ],
        [
          'wants',
          goal.requestedOutputs.map((output) => `${output.kind}${output.required ? '' : ' (optional)'}`).join(', '),
        ],
        ['must not', goal.prohibitedActions.join(', ')],
        [
          'budget',
          `${goal.budget.stepCountMax} steps, ${goal.budget.toolCallCountMax} tool calls, ${goal.budget.modelTokenCountMax} tokens, ${goal.budget.deadlineMs} ms`,
        ],
        ['digest', goal.digest],
      ]),
    );
  }
  if (blocked !== null) parts.push(`Waiting for an answer: ${blocked.question}`);
  const steps = (plan as { readonly steps?: readonly ShownStep[] } | undefined)?.steps;
  if (Array.isArray(steps)) {
    const rows = (steps as readonly ShownStep[]).map((step) => [
      step.stepId,
      `${step.team}/${step.skillId}@${step.skillVersion}`,
      step.required ? 'required' : 'optional',
      step.dependsOn.length === 0 ? '–' : step.dependsOn.map((dependency) => dependency.stepId).join(','),
      step.actions.join(', '),
    ]);
    parts.push(table([['step', 'team/skill', 'need', 'after', 'actions'], ...rows]));
  }
  // Without a goal there was nothing to plan, and so nothing to find.
  if (blocked !== null) return parts.join('\n\n');
  parts.push(
    findings.length === 0
      ? 'The validator has no findings.'
      : table([
          ['finding', 'at', 'expected', 'got'],
          ...findings.map((finding) => [finding.code, finding.pointer || '/', finding.expected, finding.got]),
        ]),
  );
  return parts.join('\n\n');
}
