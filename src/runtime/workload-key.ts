/** A workload's own key, kept in its own directory, readable by its owner only. Made when it is missing. */
import { createSigner, generatePrivateJwk, type PrivateJwk } from '#authority/es256.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Signer } from '#ports/signer.ts';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** ERR_CONFIG when the file is there and is no key. */
export function loadWorkloadKey(directory: string, name: string): Signer {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${name}.key.json`);
  const text = readIfPresent(path);
  if (text !== undefined) return readKey(path, text);
  const made = generatePrivateJwk();
  writeFileSync(path, `${JSON.stringify(made)}\n`, { mode: 0o600, flag: 'wx' });
  return createSigner(made);
}

function readKey(path: string, text: string): Signer {
  try {
    return createSigner(JSON.parse(text) as PrivateJwk);
  } catch (cause) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `Expected an ES256 private key (JWK) in ${path}. Remove the file to have a new one made.`,
      { at: 'runtime', cause },
    );
  }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
