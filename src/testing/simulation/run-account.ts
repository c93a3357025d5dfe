/** What is known from outside of one run in a simulated world: an account kept from its events alone. */
import type { Budget } from '#contracts/budget.ts';
import type { EventKind, RunEvent } from '#contracts/event.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { PlanStep } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { RunHead } from '#ports/store.ts';
import type { ApprovalAccount } from './approval-audit.ts';
import type { Report } from './violation.ts';

export type EventOf<K extends EventKind> = Extract<RunEvent, { readonly kind: K }>;

export interface StepAccount {
  readonly plan: PlanStep;
  readonly skill: SkillContract | undefined;
  readonly producer: string;
  outcome: string | undefined;
  resultHash: string | undefined;
  attempt: number;
  dispatchId: string | undefined;
  reserved: { readonly toolCallCount: number; readonly modelTokenCount: number } | undefined;
}

/** What is known of a run. */
export interface RunAccount {
  readonly runId: string;
  readonly tenant: string;
  readonly level: RunHead['level'];
  seq: number;
  hash: string;
  phase: RunHead['phase'];
  blockedCode: string | undefined;
  requestedBy: string | undefined;
  goalSeen: boolean;
  budget: Budget | undefined;
  planVersion: number;
  readonly steps: Map<string, StepAccount>;
  readonly dispatched: Set<string>;
  readonly evidence: Set<string>;
  readonly approvals: Map<string, ApprovalAccount>;
  /** Of steps with results that contradict each other: the hashes among which a person decides. */
  readonly conflicts: Map<string, string[]>;
  usedToolCalls: number;
  usedTokens: number;
  cancelled: boolean;
  ended: boolean;
  answered: boolean;
}

export interface RunAuditOptions {
  readonly report: Report;
  readonly ownerOf: ((evidence: Evidence) => string | undefined) | undefined;
}

export function openAccount(event: RunEvent, level: RunHead['level']): RunAccount {
  return {
    runId: event.runId,
    tenant: event.tenant,
    level,
    seq: 0,
    hash: '',
    phase: 'received',
    blockedCode: undefined,
    requestedBy: undefined,
    goalSeen: false,
    budget: undefined,
    planVersion: 0,
    steps: new Map(),
    dispatched: new Set(),
    evidence: new Set(),
    approvals: new Map(),
    conflicts: new Map(),
    usedToolCalls: 0,
    usedTokens: 0,
    cancelled: false,
    ended: false,
    answered: false,
  };
}

/** What an account does with the events of each kind; others say nothing that it keeps. */
export type Entries<At> = { readonly [K in EventKind]?: (run: RunAccount, event: EventOf<K>, at: At) => void };

export function enter<At>(
  entries: Entries<At>,
  run: RunAccount,
  by: { readonly event: RunEvent; readonly at: At },
): void {
  const entry = entries[by.event.kind] as ((run: RunAccount, event: RunEvent, at: At) => void) | undefined;
  entry?.(run, by.event, by.at);
}

/** Enters the steps of a plan that are not known yet. */
export function layOut(
  run: RunAccount,
  body: Pick<EventOf<'plan.accepted'>['body'], 'plan' | 'skills' | 'cards'>,
): void {
  for (const step of body.plan.steps) {
    if (run.steps.has(step.stepId)) continue;
    const skill = body.skills.find(({ skillId, team }) => skillId === step.skillId && team === step.team);
    const producer = body.cards.find(({ team }) => team === step.team)?.workload ?? '';
    run.steps.set(step.stepId, {
      plan: step,
      skill,
      producer,
      outcome: undefined,
      resultHash: undefined,
      attempt: 0,
      dispatchId: undefined,
      reserved: undefined,
    });
  }
}
