/** What the production profile refuses, each by the name of its setting. */
import type { CaseOpsConfig, ConfigFinding } from './config.ts';
import { sentence } from './config.ts';

/** Empty for the development profile, and for a production configuration that leaves nothing to chance. `teams` are the case's. */
export function checkProduction(
  config: CaseOpsConfig,
  { teams, file }: { readonly teams: readonly string[]; readonly file: string },
): readonly ConfigFinding[] {
  if (config.profile !== 'production') return [];
  const say = (pointer: string, expected: string, got: string): ConfigFinding =>
    sentence({ pointer, expected: `${expected} (profile production)`, got, file });
  return [
    ...(config.users === undefined
      ? [say('/users', 'an OpenID Connect issuer', 'nothing, which means the development issuer')]
      : usersFindings(config.users, say)),
    ...keyFindings(config, teams, say),
    ...(config.store.kind === 'memory' ? [say('/store/kind', 'a store that outlives the process', 'memory')] : []),
  ];
}

type Say = (pointer: string, expected: string, got: string) => ConfigFinding;

function keyFindings({ keys, secrets }: CaseOpsConfig, teams: readonly string[], say: Say): readonly ConfigFinding[] {
  const generated = 'nothing, which means a generated key';
  return [
    ...(secrets === undefined ? [say('/secrets', 'an adapter for secrets', 'nothing')] : []),
    ...(keys.issuer === undefined ? [say('/keys/issuer', 'the name of a secret', generated)] : []),
    ...(keys.supervisor === undefined ? [say('/keys/supervisor', 'the name of a secret', generated)] : []),
    ...teams
      .filter((team) => keys.teams?.[team] === undefined)
      .map((team) => say(`/keys/teams/${team}`, 'the name of a secret', generated)),
  ];
}

function usersFindings(users: NonNullable<CaseOpsConfig['users']>, say: Say): readonly ConfigFinding[] {
  const wildcard = (list: readonly string[], pointer: string): readonly ConfigFinding[] =>
    list.flatMap((entry, index) =>
      entry === '*' ? [say(`${pointer}/${index}`, 'one name', 'the wildcard *, which allows every one')] : [],
    );
  return [
    ...(users.issuer.startsWith('https:') ? [] : [say('/users/issuer', 'an https URL', 'an http URL')]),
    ...wildcard(users.tenants, '/users/tenants'),
    ...Object.entries(users.roles).flatMap(([role, { purposes, actions }]) => [
      ...wildcard(purposes, `/users/roles/${role}/purposes`),
      ...wildcard(actions, `/users/roles/${role}/actions`),
    ]),
  ];
}
