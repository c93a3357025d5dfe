/** Who commands act as: `--as`, else who logged in for this data directory, else the first development identity. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootDirectory } from './cases.ts';
import { installation } from './installation.ts';

/** By its role: of the case's first tenant. */
const DEFAULT_ACCOUNT = 'requester';
const FILE = 'account.json';

export async function currentAccount(): Promise<string> {
  await installation();
  return storedAccount() ?? DEFAULT_ACCOUNT;
}

/** Undefined when nobody has logged in here, or the file is none of ours. */
export function storedAccount(): string | undefined {
  try {
    const { account } = JSON.parse(readFileSync(join(rootDirectory(), FILE), 'utf8')) as { account?: unknown };
    return typeof account === 'string' ? account : undefined;
  } catch {
    return undefined;
  }
}

/** A name, no secret: development identities have none. */
export function storeAccount(account: string): void {
  mkdirSync(rootDirectory(), { recursive: true });
  writeFileSync(join(rootDirectory(), FILE), `${JSON.stringify({ account })}\n`, { mode: 0o600 });
}
