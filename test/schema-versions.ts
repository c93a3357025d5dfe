/** Version discipline of the published schemas: a changed schema under an unchanged version is a finding. */
import { createHash } from 'node:crypto';

export interface Locked {
  readonly version: string;
  readonly digest: string;
}

export function lockEntry(text: string): Locked {
  const version = /"\$id": "[^"]*:(\d+\.\d+\.\d+)"/.exec(text)?.[1] ?? '';
  return { version, digest: createHash('sha256').update(text).digest('hex') };
}

/** Compares schema files with the lock of what was released. */
export function versionFindings(
  files: ReadonlyMap<string, string>,
  lock: Readonly<Record<string, Locked>>,
): readonly string[] {
  return [...files].flatMap(([name, text]) => {
    const released = lock[name];
    const now = lockEntry(text);
    if (released === undefined || released.digest === now.digest || released.version !== now.version) return [];
    return [`${name} changed under version ${now.version}: raise it in contracts/registry.ts and run npm run schemas`];
  });
}
