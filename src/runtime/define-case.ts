/**
 * A case: the goals it understands, the teams that serve it, the people who may ask. Pure; teams are loaded in the process that
 * serves them.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { DevelopmentAccount } from '#authority/development-issuer.ts';
import type { ApprovalRow } from '#control/approval-policy.ts';
import type { Clock } from '#ports/clock.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { Inbox } from '#ports/inbox.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';

/** What a team's module gets when its process starts. */
export interface TeamContext {
  /** The team's own folder for its records; created when missing by whoever writes there. */
  readonly directory: string;
  /** RFC 3339 UTC: the time at which a record is observed. */
  readonly now: () => string;
}

export type TeamFactory = (context: TeamContext) => TeamDefinition;

/** What the module of a case's effect targets gets when the supervisor starts. */
export interface EffectContext {
  /** The writer's own folder; it exists. */
  readonly directory: string;
  /** Where a team of this case keeps its records when it runs here. */
  readonly teamDirectory: (team: string) => string;
  readonly clock: Clock;
  /** Has a resource released with the runtime, last one first; returns it. */
  readonly use: <T extends AsyncDisposable | Disposable>(resource: T) => T;
}

export type EffectTargetFactory = (
  context: EffectContext,
) => readonly EffectTarget[] | Promise<readonly EffectTarget[]>;

export type InboxFactory = (context: EffectContext) => readonly Inbox[] | Promise<readonly Inbox[]>;

export interface CaseDefinition {
  readonly name: string;
  readonly goalKinds: readonly GoalKind[];
  /**
   * `import.meta.url` of the module that exports this case: each team's process loads it, and asks this case for its team. A module that
   * is also a program starts its work under `if (import.meta.main)`, or every team's process would start it again.
   */
  readonly module: string;
  /** Team name → its factory, loaded only in the team's process. */
  readonly teams: Readonly<Record<string, () => Promise<TeamFactory>>>;
  /** What a requester of this case may ask for; the development identities come from it. */
  readonly requester: { readonly purposes: readonly string[]; readonly actions: readonly string[] };
  /** What the supervisor may ask of teams at all, whoever the user is. */
  readonly workloadActions: readonly string[];
  /** The development identities; left out: requester, approver and auditor of `t9`, and a requester of `t8`. */
  readonly accounts?: readonly DevelopmentAccount[];
  /** What applies approved effects, loaded in the supervisor's process alone. Left out: this case applies nothing. */
  readonly effectTargets?: () => Promise<EffectTargetFactory>;
  /** Where approvers are told that something waits; loaded in the supervisor's process. A reply never approves. */
  readonly inboxes?: () => Promise<InboxFactory>;
  /** Who approves which action; one approver within an hour decides an action that has no row. */
  readonly approvals?: readonly ApprovalRow[];
}

/** A case as its author writes it. */
export interface CaseOptions extends Omit<CaseDefinition, 'requester'> {
  /** Left out: the purposes of the case's goals, and `workloadActions`. */
  readonly requester?: CaseDefinition['requester'];
}

/** Checks what can be checked without starting a team; throws ERR_CONFIG with every finding. */
export function defineCase(options: CaseOptions): CaseDefinition {
  const purposes = [...new Set(options.goalKinds.map(({ purpose }) => purpose))];
  const definition = { requester: { purposes, actions: options.workloadActions }, ...options };
  const findings = [
    ...duplicates(
      'goal kind',
      definition.goalKinds.map((kind) => kind.kind),
    ),
    ...(definition.goalKinds.length === 0 ? ['a case needs at least one goal kind'] : []),
  ];
  if (findings.length > 0) {
    throw new CaseOpsError('ERR_CONFIG', `The case ${definition.name} is not sound: ${findings.join('; ')}.`, {
      at: 'defineCase',
      detail: { findings },
    });
  }
  return definition;
}

function duplicates(what: string, names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map(
    (name) => `${what} ${name} is defined twice`,
  );
}
