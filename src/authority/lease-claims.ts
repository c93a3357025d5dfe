/** Building the claims of a lease and its registry row. One place, so that every lease has every claim. Source: LEASE "Fields". */
import { CaseOpsError } from '#contracts/error.ts';
import { leaseClaims, type LeaseClaims, type LeaseRow } from '#contracts/lease.ts';

/**
 * The claims as the contract has them. Throws CaseOpsError (ERR_LEASE, code `claims_shape`) naming the first claim that is not lawful;
 * an issuer never signs what a guard would refuse for its shape.
 */
export function toLeaseClaims(claims: Readonly<Record<string, unknown>>): LeaseClaims {
  const parsed = leaseClaims.safeParse(claims);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'a claim';
  throw leaseRefused('claims_shape', `Expected a lawful lease; ${where.slice(0, 120)} is outside the profile.`);
}

/** What the registry keeps of a lease: no token, no signature. `parent` is the id of the lease that it was exchanged for. */
export function leaseRowOf(claims: LeaseClaims, parent: string | undefined): LeaseRow {
  const [detail] = claims.authorization_details;
  const { task, dlg } = claims;
  return {
    leaseId: claims.jti,
    tenant: claims.tenant,
    runId: task.run,
    stepId: task.step,
    attempt: task.attempt,
    subject: claims.sub,
    actor: claims.act.sub,
    audience: claims.aud,
    actions: detail?.actions ?? [],
    resources: detail?.resources ?? [],
    purpose: detail?.purpose ?? 'control',
    depth: dlg.depth,
    use: claims.use,
    issuedAt: claims.iat,
    expiresAt: claims.exp,
    ...(parent === undefined ? {} : { parent }),
    ...(task.task_id === undefined ? {} : { taskId: task.task_id }),
  };
}

/** The error of a refused mint; `code` is a stable word in its detail. */
export function leaseRefused(code: string, message: string): CaseOpsError {
  return new CaseOpsError('ERR_LEASE', message, { at: 'issuer', detail: { code } });
}
