/** `caseops login ACCOUNT` and `caseops whoami`, with the development identities. */
import { CaseOpsError } from 'caseops';
import { storeAccount, storedAccount } from '../account.ts';
import { EXIT } from '../exit-codes.ts';
import { installation } from '../installation.ts';
import { hint, print, printJson, printLines, table, type Format } from '../output.ts';

export async function login(account: string): Promise<number> {
  const who = identityOf(account);
  await installation();
  storeAccount(account);
  hint(`Commands act as the ${who.role} of ${tenantText(who)} until the next login; --as still wins.`);
  return EXIT.ok;
}

export async function whoami(options: { readonly as: string; readonly output: Format }): Promise<number> {
  const { tenant, role } = identityOf(options.as);
  const who = { account: options.as, role, tenant: tenant ?? null, loggedIn: storedAccount() === options.as };
  if (options.output === 'json') printJson(who);
  else if (options.output === 'jsonl') printLines([who]);
  else
    print(
      table([
        ['account', who.account],
        ['role', role],
        ['tenant', tenantText({ tenant })],
      ]),
    );
  return EXIT.ok;
}

interface Identity {
  readonly role: string;
  readonly tenant: string | undefined;
}

/** A role, or a role of a tenant; whether the case has it is said when it is used. */
function identityOf(account: string): Identity {
  const parts = /^(requester|approver|auditor)(?:@([a-z0-9-]{1,64}))?$/.exec(account);
  if (parts?.[1] !== undefined) return { role: parts[1], tenant: parts[2] };
  throw new CaseOpsError(
    'ERR_USAGE',
    `Expected requester, approver or auditor, with or without @tenant, got ${account.slice(0, 80)}.`,
    { at: 'cli' },
  );
}

function tenantText({ tenant }: Pick<Identity, 'tenant'>): string {
  return tenant ?? "the case's first tenant";
}
