/** Who may ask: the development identities, or people of the configured OpenID Connect issuer. */
import {
  createDevelopmentIssuer,
  DEVELOPMENT_ACCOUNTS,
  type DevelopmentAccount,
} from '#authority/development-issuer.ts';
import { createUserTokens, type UserTokensOptions } from '#authority/user-tokens.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { join } from 'node:path';
import type { CaseDefinition } from './define-case.ts';
import { openGrantBook } from './grant-book.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import { loadWorkloadKey } from './workload-key.ts';
import { ISSUER, SUPERVISOR_WORKLOAD } from './workloads.ts';

export interface People extends Disposable {
  /** Bearer tokens of the development identities; none when people come from elsewhere. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The grant behind a bearer token; undefined when it is worth nothing. */
  verify(token: string): Promise<RootGrant | undefined>;
  /** The grant of a development identity. ERR_UNAUTHENTICATED when there is none of that name. */
  grantFor(account: string): RootGrant;
  /** The grant of a person for something that was asked earlier; undefined when they may do nothing any more. */
  lookup(subject: string, tenant: string): RootGrant | undefined;
}

export type UserDirectory = Omit<UserTokensOptions, 'supervisor' | 'clock'>;

export interface PeopleOptions {
  readonly directory: string;
  readonly requester: CaseDefinition['requester'];
  /** The development identities; undefined: those of DEVELOPMENT_ACCOUNTS. */
  readonly accounts: readonly DevelopmentAccount[] | undefined;
  /** Undefined: the development identities. */
  readonly users: UserDirectory | undefined;
}

/** Local tokens outlive a working day; they are for development. */
const TOKEN_LIFETIME_S = 43_200;

export function openPeople(options: PeopleOptions): People {
  return options.users === undefined ? developmentPeople(options) : issuerPeople(options, options.users);
}

function developmentPeople(options: PeopleOptions): People {
  const { directory, requester, accounts: named = DEVELOPMENT_ACCOUNTS } = options;
  const tenants = [...new Set(named.map((account) => account.slice(account.indexOf('@') + 1)))];
  // Whoever the case names: in development each tenant has one person who may erase.
  const accounts = [...new Set([...named, ...tenants.map((tenant): DevelopmentAccount => `custodian@${tenant}`)])];
  const issuer = createDevelopmentIssuer({
    issuer: ISSUER,
    audience: 'urn:caseops:api',
    signer: loadWorkloadKey(join(directory, 'keys'), 'people'),
    clock: systemClock,
    ids: systemIds,
    supervisor: SUPERVISOR_WORKLOAD,
    ...requester,
    accounts,
    lifetimeS: TOKEN_LIFETIME_S,
  });
  return {
    tokens: Object.fromEntries(accounts.map((account) => [account, issuer.tokenFor(account)])),
    verify: async (token) => {
      const verdict = issuer.verify(token);
      return verdict.ok ? verdict.grant : undefined;
    },
    grantFor: (account) => issuer.grantFor(account),
    lookup: (subject, tenant) => {
      if (!accounts.some((account) => account === subject)) return undefined;
      const grant = issuer.grantFor(subject);
      return grant.tenant === tenant ? grant : undefined;
    },
    [Symbol.dispose]: () => undefined,
  };
}

/** A run may outlive the token that started it: the last grant of each person is kept, until a newer token or its end. */
function issuerPeople({ directory }: PeopleOptions, users: UserDirectory): People {
  const tokens = createUserTokens({ ...users, supervisor: SUPERVISOR_WORKLOAD, clock: systemClock });
  const book = openGrantBook({ path: join(directory, 'people.db'), clock: systemClock });
  return {
    tokens: {},
    verify: async (token) => {
      const verdict = await tokens.verify(token);
      if (!verdict.ok) return undefined;
      book.remember(verdict.grant);
      return verdict.grant;
    },
    grantFor: (account) => {
      throw new CaseOpsError(
        'ERR_UNAUTHENTICATED',
        `There is no development identity ${account.slice(0, 80)} here: people come from ${users.issuer}. Give a token of it.`,
        { at: 'runtime' },
      );
    },
    lookup: (subject, tenant) => book.find(subject, tenant),
    [Symbol.dispose]: () => book[Symbol.dispose](),
  };
}
