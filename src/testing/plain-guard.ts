/**
 * A guard without cryptography for tests of protocols: a lease is its claims in base64url, a proof names method, target and body
 * digest. It compares what the real one compares at an A2A door; it protects nothing.
 */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { LeaseClaims } from '#contracts/lease.ts';
import { digestOf, digestOfBytes } from '#kernel/digest.ts';
import type { Authenticated, Checked, Guard, GuardOperation, GuardRequest } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { fixtureSkill, PLAN_DIGEST } from './team-fixtures.ts';

const SUPERVISOR = 'spiffe://caseops.test/supervisor';
export const ISSUED_AT = 1_785_542_400;

/** Claims of a lease for a dispatch, or of a control lease when `use` says so. */
function plainClaims(audience: string, over: Partial<LeaseClaims> = {}): LeaseClaims {
  return {
    iss: 'https://issuer.caseops.test',
    sub: 'requester@t9',
    aud: audience,
    client_id: SUPERVISOR,
    iat: ISSUED_AT,
    nbf: ISSUED_AT,
    exp: ISSUED_AT + 120,
    jti: 'lse_1',
    cnf: { jkt: 'k'.repeat(43) },
    act: { sub: SUPERVISOR },
    tenant: 't9',
    authorization_details: [
      {
        type: 'urn:caseops:lease:v1',
        locations: [],
        actions: ['claims:read'],
        resources: ['claim:C-102'],
        datatypes: [...fixtureSkill().datatypes],
        purpose: 'claim-inquiry',
        bounds: {},
      },
    ],
    task: { run: 'run_1', step: 's2', attempt: 1 },
    plan_digest: PLAN_DIGEST,
    policy_digest: digestOf([]),
    dlg: { depth: 0, max: 0 },
    use: 'single',
    txn: 'run_1',
    ...over,
  };
}

/** The claims of a work lease for exactly this dispatch. */
export function plainWorkClaims(audience: string, dispatch: Dispatch, over: Partial<LeaseClaims> = {}): LeaseClaims {
  const [detail] = plainClaims(audience).authorization_details;
  return plainClaims(audience, {
    jti: `lse_${dispatch.dispatchId.slice(4)}`,
    sub: dispatch.subject,
    tenant: dispatch.tenant,
    task: { run: dispatch.runId, step: dispatch.stepId, attempt: dispatch.attempt },
    txn: dispatch.runId,
    authorization_details:
      detail === undefined ? [] : [{ ...detail, actions: dispatch.actions, resources: dispatch.resources }],
    ...over,
  });
}

/** The claims of a control lease, bound to a task unless it is for a list. */
export function plainControlClaims(
  audience: string,
  control: { readonly action: `task:${string}`; readonly taskId?: string; readonly jti: string },
  over: Partial<LeaseClaims> = {},
): LeaseClaims {
  const base = plainClaims(audience);
  const details = base.authorization_details.map((detail) => ({ ...detail, actions: [control.action] }));
  return {
    ...base,
    jti: control.jti,
    use: 'control',
    authorization_details: details,
    task: { ...base.task, ...(control.taskId === undefined ? {} : { task_id: control.taskId }) },
    ...over,
  };
}

let proofCount = 0;

export function plainLease(claims: LeaseClaims): HeldLease {
  const token = `plain.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.unsigned`;
  return {
    token,
    leaseId: claims.jti,
    audience: claims.aud,
    expiresAt: claims.exp,
    prove: (method, target, body) => {
      proofCount += 1;
      const proof = { method, target: target.replace(/[?#].*$/, ''), body: digestOfBytes(body), number: proofCount };
      return Buffer.from(JSON.stringify(proof)).toString('base64url');
    },
  };
}

export function createPlainGuard(audience: string): Guard {
  const seen = new Set<string>();
  return {
    authenticate(request) {
      const token = request.authorization?.startsWith('DPoP ') ? request.authorization.slice(5) : undefined;
      if (token === undefined) return refusal('lease_missing');
      const lease = readToken(token);
      if (lease === undefined) return refusal('lease_malformed');
      if (lease.aud !== audience) return refusal('audience');
      if (request.proof === undefined) return refusal('proof_missing');
      if (!proofHolds(request)) return refusal('body_digest');
      if (seen.has(request.proof)) return refusal('proof_replayed');
      seen.add(request.proof);
      const signingInputDigest = digestOfBytes(token.slice(0, token.lastIndexOf('.')));
      const requestDigest = digestOfBytes(request.body);
      return { outcome: 'permit', value: { lease, token, signingInputDigest, workload: lease.act.sub, requestDigest } };
    },
    authorize: (authenticated, operation) => {
      const code = mismatch(authenticated.lease, operation);
      return code === undefined ? { outcome: 'permit', value: authenticated } : refusal(code);
    },
    consumption: ({ lease, requestDigest }) => ({
      table: 'consumption',
      tenant: lease.tenant,
      issuer: lease.iss,
      leaseId: lease.jti,
      useCountMax: 1,
      requestDigest,
      expiresAt: lease.exp,
    }),
  };
}

function mismatch(lease: LeaseClaims, operation: GuardOperation): string | undefined {
  const [detail] = lease.authorization_details;
  const { task } = lease;
  if (detail === undefined) return 'detail_type';
  if ((lease.use === 'control') !== (operation.lease === 'control')) return 'lease_kind';
  if (task.task_id !== operation.taskId) return 'task';
  if (operation.run !== undefined && operation.run !== task.run) return 'run';
  if (operation.step !== undefined && operation.step !== task.step) return 'step';
  if (operation.attempt !== undefined && operation.attempt !== task.attempt) return 'step';
  if (operation.planDigest !== undefined && operation.planDigest !== lease.plan_digest) return 'plan';
  if (operation.tenant !== undefined && operation.tenant !== lease.tenant) return 'tenant';
  if (operation.subject !== undefined && operation.subject !== lease.sub) return 'subject';
  if (!detail.actions.includes(operation.action)) return 'action';
  if (operation.resources.some((resource) => !detail.resources.includes(resource))) return 'resource';
  if (operation.purpose !== undefined && operation.purpose !== detail.purpose) return 'purpose';
  if (operation.datatypes.some((datatype) => !detail.datatypes.includes(datatype))) return 'datatype';
  return undefined;
}

function readToken(token: string): LeaseClaims | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as LeaseClaims;
  } catch {
    return undefined;
  }
}

function proofHolds(request: GuardRequest): boolean {
  const proof = JSON.parse(Buffer.from(request.proof ?? '', 'base64url').toString()) as Record<string, unknown>;
  return (
    proof['method'] === request.method &&
    proof['target'] === request.target &&
    proof['body'] === digestOfBytes(request.body)
  );
}

function refusal(code: string): Checked<Authenticated> {
  return { outcome: 'deny', code, boundary: 'a2a', message: `The plain guard refuses: ${code}.`, guard: code };
}
