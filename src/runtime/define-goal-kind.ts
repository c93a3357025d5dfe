/** How a case's author declares a goal that people may ask for in words. */
import type { Budget } from '#contracts/budget.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { GoalKind } from '#ports/goal-kind.ts';

type Defaulted =
  | 'version'
  | 'purpose'
  | 'prohibitions'
  | 'alwaysProhibitedActions'
  | 'constraints'
  | 'budget'
  | 'observationAgeMsMax';

/** A goal kind with what most kinds share left out. */
export type GoalKindOptions = Omit<GoalKind, Defaulted> & Partial<Pick<GoalKind, Defaulted>>;

const BUDGET: Budget = {
  stepCountMax: 8,
  modelTokenCountMax: 0,
  toolCallCountMax: 32,
  concurrencyMax: 4,
  deadlineMs: 30_000,
  replanCountMax: 2,
};

/**
 * Fills in: version 1.0.0, the kind's own name as purpose, no prohibition, no constraint, eight steps with 32 tool calls in 30 s and no
 * model, observations of any age in the run. Throws one ERR_CONFIG with every pattern or phrase that is no regular expression (Unicode
 * mode), every claim whose output the kind does not have, and a subject that is none of its entities.
 */
export function defineGoalKind(options: GoalKindOptions): GoalKind {
  const kind: GoalKind = {
    version: '1.0.0',
    purpose: options.kind,
    prohibitions: [],
    alwaysProhibitedActions: [],
    constraints: [],
    budget: BUDGET,
    observationAgeMsMax: 0,
    ...options,
  };
  const findings = [...patternFindings(kind), ...claimFindings(kind), ...subjectFindings(kind)];
  if (findings.length === 0) return kind;
  throw new CaseOpsError('ERR_CONFIG', `The goal kind ${kind.kind} is not sound: ${findings.join('; ')}.`, {
    at: 'runtime',
    detail: { findings },
  });
}

function patternFindings(kind: GoalKind): readonly string[] {
  const phrases = [
    ...kind.entities.map(({ pattern }) => pattern),
    ...Object.values(kind.recognise).flat(2),
    ...kind.outputs.flatMap(({ when }) => Object.values(when ?? {}).flat()),
    ...kind.prohibitions.flatMap((rule) => Object.values(rule.phrases).flat()),
    ...Object.values(kind.negations ?? {}).flat(),
  ];
  return phrases
    .filter((source) => !isPattern(source))
    .map((source) => `expected a regular expression in Unicode mode, got ${source}`);
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'iu').source !== '';
  } catch {
    return false;
  }
}

function claimFindings({ claims, outputs }: GoalKind): readonly string[] {
  const known = new Set(outputs.map((output) => output.kind));
  return claims.flatMap(({ key, output }) =>
    output === undefined || known.has(output)
      ? []
      : [`claim ${key} is about the output ${output}, which the kind does not ask for`],
  );
}

function subjectFindings({ subject, entities }: GoalKind): readonly string[] {
  return entities.some((entity) => entity.kind === subject.entity)
    ? []
    : [`its subject is the entity ${subject.entity}, which it does not declare`];
}
