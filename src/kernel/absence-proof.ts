/**
 * How it is shown that something did not happen: the goal forbade it, no lease of the run allowed it, no dispatched skill could do it,
 * and the effect ledger has no row of it. What was counted is evidence like any other. Source: DESIGN §3.9, SURFACES "Constraint proof".
 */
import type { AbsenceProof } from '#contracts/claim.ts';
import type { EffectRow } from '#contracts/effect-row.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { GoalContract } from '#contracts/goal.ts';
import type { Action, EvidenceId, RunId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';

export interface AbsenceQuestion {
  readonly goal: GoalContract;
  readonly runId: RunId;
  /** Rows of the lease registry; those of other runs or tenants are not looked at. */
  readonly leases: readonly Pick<LeaseRow, 'tenant' | 'runId' | 'actions'>[];
  /** The contract of the skill of each dispatch. */
  readonly dispatched: readonly SkillContract[];
  /** Rows of the effect ledger; those of other runs or tenants are not looked at. */
  readonly effects: readonly Pick<EffectRow, 'tenant' | 'runId' | 'action'>[];
  /** When it was looked at, RFC 3339 UTC. */
  readonly at: string;
  /** Makes the id of the evidence about an anchor; the same for the same anchor. */
  readonly evidenceId: (anchor: string) => EvidenceId;
}

export interface AbsenceAnswer {
  /** By action: every prohibited one, and every one that a sentence of the goal says did not happen. */
  readonly proofs: Readonly<Record<Action, AbsenceProof>>;
  readonly evidence: readonly Evidence[];
  /** evidenceId → what was counted. */
  readonly records: Readonly<Record<EvidenceId, unknown>>;
}

/** Counts only; a proof holds if the action was prohibited and every count of it is 0. */
export function proveAbsence(question: AbsenceQuestion): AbsenceAnswer {
  const { goal, runId } = question;
  const own = (row: { readonly tenant: string; readonly runId: string }): boolean =>
    row.tenant === goal.tenant && row.runId === runId;
  const leases = question.leases.filter(own);
  const effects = question.effects.filter(own);
  const claimed = goal.claims.flatMap(({ absentAction }) => absentAction ?? []);
  const actions = [...new Set([...goal.prohibitedActions, ...claimed])];
  const proofs = Object.fromEntries(
    actions.map((action) => [action, proofOf(action, { ...question, leases, effects })]),
  );
  const looked: readonly Looked[] = [
    {
      anchor: `goal:${goal.goalId}`,
      version: `v${goal.revision}`,
      record: { goalId: goal.goalId, revision: goal.revision, prohibitedActions: goal.prohibitedActions },
    },
    {
      anchor: `lease-registry:${runId}`,
      version: `n${leases.length}`,
      record: {
        runId,
        leaseCount: leases.length,
        dispatchCount: question.dispatched.length,
        permitting: countsOf(proofs, 'leaseCountPermitting'),
        calling: countsOf(proofs, 'dispatchCountCalling'),
      },
    },
    {
      anchor: `effect-ledger:${runId}`,
      version: `n${effects.length}`,
      record: { runId, rowCount: effects.length, rows: countsOf(proofs, 'effectRowCount') },
    },
  ];
  const evidence = looked.map((one) => evidenceOf(one, question));
  const records = looked.map(({ anchor, record }) => [question.evidenceId(anchor), record] as const);
  return { proofs, evidence, records: Object.fromEntries(records) };
}

/** The proof that records of `proveAbsence` give for an action; undefined when they are not such records. For re-verification. */
export function proofFrom(
  action: Action,
  read: (anchorType: string, pointer: string) => unknown,
): AbsenceProof | undefined {
  const prohibited = read('goal', '/prohibitedActions');
  const counts = {
    leaseCountExamined: read('lease-registry', '/leaseCount'),
    leaseCountPermitting: read('lease-registry', `/permitting/${action}`),
    dispatchCountCalling: read('lease-registry', `/calling/${action}`),
    effectRowCount: read('effect-ledger', `/rows/${action}`),
  };
  if (!Array.isArray(prohibited) || !allCounts(counts)) return undefined;
  return complete(action, { prohibitedByGoal: prohibited.includes(action), ...counts });
}

type Counted = Omit<AbsenceProof, 'action' | 'holds'>;
type Counts = Omit<Counted, 'prohibitedByGoal'>;

function allCounts(counts: Record<keyof Counts, unknown>): counts is Counts {
  return Object.values(counts).every((count) => Number.isSafeInteger(count));
}

function complete(action: Action, counted: Counted): AbsenceProof {
  const { prohibitedByGoal, leaseCountPermitting, dispatchCountCalling, effectRowCount } = counted;
  const none = leaseCountPermitting === 0 && dispatchCountCalling === 0 && effectRowCount === 0;
  return { action, ...counted, holds: prohibitedByGoal && none };
}

function proofOf(
  action: Action,
  { goal, leases, dispatched, effects }: Pick<AbsenceQuestion, 'goal' | 'leases' | 'dispatched' | 'effects'>,
): AbsenceProof {
  return complete(action, {
    prohibitedByGoal: goal.prohibitedActions.includes(action),
    leaseCountExamined: leases.length,
    leaseCountPermitting: leases.filter((lease) => lease.actions.includes(action)).length,
    dispatchCountCalling: dispatched.filter((skill) => reaches(skill, action)).length,
    effectRowCount: effects.filter((row) => row.action === action).length,
  });
}

function reaches(skill: SkillContract, action: Action): boolean {
  return skill.actions.includes(action) || skill.effectActions.includes(action);
}

function countsOf(proofs: Readonly<Record<Action, AbsenceProof>>, of: keyof Counts): Readonly<Record<Action, number>> {
  return Object.fromEntries(Object.values(proofs).map((proof) => [proof.action, proof[of]]));
}

interface Looked {
  readonly anchor: string;
  readonly version: string;
  readonly record: unknown;
}

function evidenceOf({ anchor, version, record }: Looked, { at, evidenceId }: AbsenceQuestion): Evidence {
  return {
    evidenceId: evidenceId(anchor),
    source: 'caseops',
    anchor,
    version,
    observedAt: at,
    digest: digestOf(record),
    trust: 'authoritative',
    readers: [],
  };
}
