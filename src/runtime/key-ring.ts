/** Which key a workload signs with: from the secrets that the configuration names, or made and kept in the data directory. */
import { createSigner, type PrivateJwk } from '#authority/es256.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Secrets } from '#ports/secrets.ts';
import type { Signer } from '#ports/signer.ts';
import { join } from 'node:path';
import { namedSecret } from './named-secret.ts';
import { privateJwk } from './team-config.ts';
import { loadWorkloadKey } from './workload-key.ts';

/** Names of secrets. What is not named is made in the data directory, which the production profile refuses. */
export interface KeyNames {
  readonly issuer?: string | undefined;
  readonly supervisor?: string | undefined;
  readonly teams?: Readonly<Record<string, string>> | undefined;
}

export interface KeyRing {
  /** Signs leases. */
  readonly issuer: Signer;
  readonly supervisor: Signer;
  /** Given to a team's process over its private channel; undefined: the team keeps one of its own. */
  readonly team: (team: string) => PrivateJwk | undefined;
}

export interface KeyRingOptions {
  readonly directory: string;
  readonly names: KeyNames;
  readonly secrets: Secrets | undefined;
}

/** Throws ERR_CONFIG when a named secret is missing or is no ES256 private key; the message has the name only. */
export async function openKeyRing({ directory, names, secrets }: KeyRingOptions): Promise<KeyRing> {
  const read = async (name: string | undefined): Promise<PrivateJwk | undefined> =>
    name === undefined ? undefined : keyOf(name, secrets);
  const [issuer, supervisor] = await Promise.all([read(names.issuer), read(names.supervisor)]);
  const teams = new Map<string, PrivateJwk | undefined>(
    await Promise.all(
      Object.entries(names.teams ?? {}).map(async ([team, name]) => [team, await keyOf(name, secrets)] as const),
    ),
  );
  const own = (key: PrivateJwk | undefined, name: string): Signer =>
    key === undefined ? loadWorkloadKey(join(directory, 'keys'), name) : createSigner(key);
  return { issuer: own(issuer, 'issuer'), supervisor: own(supervisor, 'supervisor'), team: (team) => teams.get(team) };
}

async function keyOf(name: string, secrets: Secrets | undefined): Promise<PrivateJwk> {
  const secret = await namedSecret(name, secrets, 'the key');
  try {
    const key = privateJwk.parse(JSON.parse(secret.reveal()));
    createSigner(key);
    return key;
  } catch {
    // The cause would quote what was read.
    throw new CaseOpsError(
      'ERR_CONFIG',
      `Expected an ES256 private key (JWK) in the secret ${name}, got another text.`,
      {
        at: 'runtime',
      },
    );
  }
}
