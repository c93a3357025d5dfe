/**
 * The plan validator: a planner proposes, this decides, before any tool call. It returns every finding with code and pointer, fills
 * nothing in, and costs the same per step at any size. Source: DESIGN §3.3.
 */
import { pointerTo } from '#contracts/json-schema.ts';
import { PLAN_VERSION, plan as planSchema, type Finding, type Plan } from '#contracts/plan.ts';
import { checkBudgets } from './plan-checks/budget.ts';
import { checkClaims } from './plan-checks/claim.ts';
import { planContext, type PlanAgainst, type PlanCheck, type Report } from './plan-checks/context.ts';
import { checkDependencies } from './plan-checks/dependency.ts';
import { checkIdentity } from './plan-checks/identity.ts';
import { checkInputs } from './plan-checks/input.ts';
import { checkJoin } from './plan-checks/join.ts';
import { checkOutputs } from './plan-checks/output.ts';
import { checkPermissions } from './plan-checks/permission.ts';
import { checkTeams } from './plan-checks/team.ts';

/** As many as one `plan.rejected` event holds; a plan with more is as refused, and the rest is cut. */
export const FINDING_COUNT_MAX = 1_000;
const TEXT_LENGTH_MAX = 500;
const POINTER_LENGTH_MAX = 512;

export interface Validated {
  /** In the order of the checks, then of the plan; empty means: the plan is lawful. */
  readonly findings: readonly Finding[];
  /** The parsed plan, only when there is no finding. */
  readonly plan: Plan | undefined;
}

const CHECKS: readonly PlanCheck[] = [
  checkIdentity,
  checkTeams,
  checkDependencies,
  checkInputs,
  checkBudgets,
  checkPermissions,
  checkJoin,
  checkOutputs,
  checkClaims,
];

/** A plan that does not conform to its schema gets only PLAN_SCHEMA findings: nothing else could be said of it. */
export function validatePlan(proposed: unknown, against: PlanAgainst): Validated {
  const findings: Finding[] = [];
  const report: Report = (code, pointer, said) => {
    if (findings.length < FINDING_COUNT_MAX) findings.push(finding(code, pointer, said));
  };
  const parsed = planSchema.safeParse(proposed);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      report('PLAN_SCHEMA', pointerTo(path), { expected: `a plan of version ${PLAN_VERSION}`, got: message });
    return { findings, plan: undefined };
  }
  const plan = parsed.data;
  const context = planContext(plan, against);
  for (const check of CHECKS) check(context, report);
  return { findings, plan: findings.length === 0 ? plan : undefined };
}

function finding(code: Finding['code'], pointer: string, said: Pick<Finding, 'expected' | 'got'>): Finding {
  return {
    code,
    // A pointer that is too long to be recorded is cut at a part.
    pointer:
      pointer.length <= POINTER_LENGTH_MAX ? pointer : pointer.slice(0, pointer.lastIndexOf('/', POINTER_LENGTH_MAX)),
    expected: said.expected.slice(0, TEXT_LENGTH_MAX),
    got: said.got.slice(0, TEXT_LENGTH_MAX),
  };
}
