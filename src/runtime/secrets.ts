/** The two adapters of the secrets port that need no service: the environment, and files as container platforms mount them. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Secret, Secrets } from '#ports/secrets.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';

const NAME = /^[a-z][a-z0-9.-]{0,63}$/;
const BYTES_MAX = 65_536;

/** `issuer-key` is read from `<prefix>ISSUER_KEY`; an empty variable is none. */
export function environmentSecrets(options: { readonly prefix?: string } = {}): Secrets {
  const { prefix = 'CASEOPS_' } = options;
  return {
    source: 'environment',
    read: async (name) => {
      const value = process.env[`${prefix}${checked(name).toUpperCase().replaceAll(/[.-]/g, '_')}`];
      return value === undefined || value === '' ? undefined : secretOf(name, value);
    },
  };
}

/** `issuer-key` is the content of the file of that name in `directory`, without one line break at its end. */
export function fileSecrets(options: { readonly directory: string }): Secrets {
  return {
    source: 'files',
    read: async (name) => {
      const bytes = await readIfPresent(join(options.directory, checked(name)), name);
      if (bytes === undefined || bytes.byteLength === 0) return undefined;
      if (bytes.byteLength > BYTES_MAX)
        throw unreadable(name, `expected at most ${BYTES_MAX} bytes, got ${bytes.byteLength}`);
      return secretOf(name, bytes.toString('utf8').replace(/\r?\n$/, ''));
    },
  };
}

/** A name is no path: nothing outside the directory can be asked for. */
function checked(name: string): string {
  if (NAME.test(name)) return name;
  throw new CaseOpsError(
    'ERR_CONFIG',
    'The name of a secret is lower-case letters, digits, dots and dashes, beginning with a letter, at most 64.',
    { at: 'secrets' },
  );
}

async function readIfPresent(path: string, name: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unreadable(name, `reading it failed with ${code}`);
  }
}

function unreadable(name: string, why: string): CaseOpsError {
  return new CaseOpsError('ERR_CONFIG', `The secret ${name} cannot be used: ${why}.`, { at: 'secrets' });
}

function secretOf(name: string, value: string): Secret {
  const shown = `[secret ${name}]`;
  const secret = { name, reveal: () => value, toJSON: () => shown, toString: () => shown };
  Object.defineProperty(secret, inspect.custom, { value: () => shown });
  return secret;
}
