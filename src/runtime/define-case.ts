/**
 * A case: the goals it understands, the teams that serve it, the people who may ask. Pure; teams are loaded in the process that
 * serves them.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';

/** What a team's module gets when its process starts. */
export interface TeamContext {
  /** The team's own folder for its records; created when missing by whoever writes there. */
  readonly directory: string;
  /** RFC 3339 UTC: the time at which a record is observed. */
  readonly now: () => string;
}

export type TeamFactory = (context: TeamContext) => TeamDefinition;

/** A development identity of this case; real deployments take people from an OIDC issuer. */
export interface CaseAccount {
  /** `requester@t9`. */
  readonly account: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly purposes: readonly string[];
  readonly actions: readonly string[];
}

export interface CaseDefinition {
  readonly name: string;
  readonly goalKinds: readonly GoalKind[];
  /** Team name → its factory, loaded only in the team's process. */
  readonly teams: Readonly<Record<string, () => Promise<TeamFactory>>>;
  readonly accounts: readonly CaseAccount[];
  /** What the supervisor may ask of teams at all, whoever the user is. */
  readonly workloadActions: readonly string[];
}

/** Checks what can be checked without starting a team; throws ERR_CONFIG with every finding. */
export function defineCase(definition: CaseDefinition): CaseDefinition {
  const findings = [
    ...duplicates(
      'goal kind',
      definition.goalKinds.map((kind) => kind.kind),
    ),
    ...duplicates(
      'account',
      definition.accounts.map((account) => account.account),
    ),
    ...(definition.goalKinds.length === 0 ? ['a case needs at least one goal kind'] : []),
    ...(Object.keys(definition.teams).length === 0 ? ['a case needs at least one team'] : []),
    ...definition.accounts
      .filter((account) => !account.account.endsWith(`@${account.tenant}`))
      .map((account) => `account ${account.account} must end with @${account.tenant}`),
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
