/** A secret that a configuration names and that must be there. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Secret, Secrets } from '#ports/secrets.ts';

/** Throws ERR_CONFIG with the name and with where it was looked for, never with a value. `what` says what it is: "the key". */
export async function namedSecret(name: string, secrets: Secrets | undefined, what: string): Promise<Secret> {
  const secret = await secrets?.read(name);
  if (secret !== undefined) return secret;
  throw new CaseOpsError(
    'ERR_CONFIG',
    `Expected ${what} ${name} among the secrets (${secrets?.source ?? 'none are configured'}), got nothing.`,
    { at: 'runtime' },
  );
}
