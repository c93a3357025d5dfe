/** Workload identities inside one deployment, SPIFFE-shaped. */
export const TRUST_DOMAIN = 'caseops.local';
export const SUPERVISOR_WORKLOAD = `spiffe://${TRUST_DOMAIN}/supervisor`;

export function teamWorkload(team: string): string {
  return `spiffe://${TRUST_DOMAIN}/team/${team}`;
}

/** `iss` of leases and user tokens of this deployment; the keys behind it are pinned, not looked up. */
export const ISSUER = 'urn:caseops:issuer:embedded';
