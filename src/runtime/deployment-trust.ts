/** What whoever serves a team for this deployment must pin: its issuer, its keys, its token endpoint. */
import type { KeyRing } from './key-ring.ts';
import type { Trust } from './team-config.ts';
import { ISSUER } from './workloads.ts';

/**
 * The trust of the deployment that has its data in `directory` and is reached at `url`, before it runs or while it does; its keys are made
 * when they are missing. Holds public keys only. For `serveTeam` in another process; with keys from secrets, read it from a running
 * `CaseOps` instead.
 */
export async function deploymentTrust(options: { readonly directory: string; readonly url: string }): Promise<Trust> {
  const { openKeyRing } = await import('./key-ring.ts');
  return trustOf(await openKeyRing({ directory: options.directory, names: {}, secrets: undefined }), options.url);
}

export function trustOf({ issuer, supervisor }: KeyRing, url: string): Trust {
  return {
    issuer: ISSUER,
    tokenEndpoint: `${url.replace(/\/$/, '')}/token`,
    issuerKeys: [issuer.publicJwk],
    supervisorKey: supervisor.publicJwk,
  };
}
