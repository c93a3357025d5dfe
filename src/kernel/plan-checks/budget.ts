/** Does the plan fit into what the goal may spend: steps, tokens, tool calls, concurrency, time. INV-06 rests on it. */
import type { Budget } from '#contracts/budget.ts';
import { dependenciesOf, type PlanCheck, type PlanContext } from './context.ts';

export const checkBudgets: PlanCheck = (context, report) => {
  const { plan, goal, planned } = context;
  for (const field of Object.keys(goal.budget) as (keyof Budget)[])
    if (plan.budget[field] > goal.budget[field])
      report('BUDGET_WIDENED', `/budget/${field}`, {
        expected: `at most ${goal.budget[field]}`,
        got: String(plan.budget[field]),
      });
  const max = (field: keyof Budget): number => Math.min(plan.budget[field], goal.budget[field]);
  if (planned.length > max('stepCountMax'))
    report('BUDGET_STEPS', '/steps', { expected: `at most ${max('stepCountMax')} steps`, got: `${planned.length}` });
  const sum = (of: 'modelTokenCountMax' | 'toolCallCountMax'): number =>
    planned.reduce((total, { step }) => total + step.budget[of], 0);
  const tokens = sum('modelTokenCountMax');
  if (tokens > max('modelTokenCountMax'))
    report('BUDGET_TOKENS', '/steps', { expected: `at most ${max('modelTokenCountMax')} tokens`, got: `${tokens}` });
  const calls = sum('toolCallCountMax');
  if (calls > max('toolCallCountMax'))
    report('BUDGET_TOOL_CALLS', '/steps', {
      expected: `at most ${max('toolCallCountMax')} tool calls`,
      got: `${calls}`,
    });
  checkTime(context, report, max('deadlineMs'));
};

/** The minimum runtimes alone must fit: along the longest chain, and in sum at the plan's concurrency. */
const checkTime = (
  { plan, goal, at, planned, order, byId }: PlanContext,
  report: Parameters<PlanCheck>[1],
  deadlineMs: number,
): void => {
  let totalMs = 0;
  for (const { step, at: pointer, skill } of planned) {
    if (skill === undefined) continue;
    totalMs += skill.minimumRuntimeMs;
    if (step.budget.timeoutMs < skill.minimumRuntimeMs)
      report('BUDGET_DEADLINE', `${pointer}/budget/timeoutMs`, {
        expected: `at least ${skill.minimumRuntimeMs} ms, the skill's minimum runtime`,
        got: `${step.budget.timeoutMs} ms`,
      });
  }
  const untilMs =
    goal.deadlineAt === undefined ? deadlineMs : Math.min(deadlineMs, Date.parse(goal.deadlineAt) - Date.parse(at));
  const chainMs = longestChainMs(order, byId);
  if (chainMs > untilMs)
    report('BUDGET_DEADLINE', '/budget/deadlineMs', {
      expected: `at most ${untilMs} ms`,
      got: `${chainMs} ms in a chain`,
    });
  const { concurrencyMax } = plan.budget;
  if (totalMs / concurrencyMax > untilMs)
    report('BUDGET_CONCURRENCY', '/budget/concurrencyMax', {
      expected: `enough for ${totalMs} ms of minimum runtime within ${untilMs} ms`,
      got: String(concurrencyMax),
    });
};

function longestChainMs(order: PlanContext['order'], byId: PlanContext['byId']): number {
  const endMs = new Map<unknown, number>();
  let longest = 0;
  for (const entry of order) {
    let startMs = 0;
    for (const dependency of dependenciesOf(entry, byId)) startMs = Math.max(startMs, Number(endMs.get(dependency)));
    const own = startMs + (entry.skill?.minimumRuntimeMs ?? 0);
    endMs.set(entry, own);
    longest = Math.max(longest, own);
  }
  return longest;
}
