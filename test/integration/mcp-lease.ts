/** A stand-in for the authority room in the mcp tests: leases and proofs as plain JSON, checks under the guard's own codes. */
import type { LeaseClaims } from '#contracts/lease.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { checkBounds } from '#kernel/narrowing.ts';
import type { Guard, Refusal } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { AnswerRefusal } from '#protocols/mcp/problem.ts';

export interface LeaseWish {
  readonly audience: string;
  readonly use?: LeaseClaims['use'];
  readonly actions?: readonly string[];
  readonly resources?: readonly string[];
  readonly bounds?: LeaseClaims['authorization_details'][number]['bounds'];
}

let count = 0;

export function mint({ audience, use, actions, resources, bounds }: LeaseWish): HeldLease {
  const jti = `lse_${(count += 1)}`;
  const lease = {
    iss: 'https://issuer.test',
    sub: 'requester@t9',
    aud: audience,
    client_id: 'claims',
    jti,
    tenant: 't9',
    exp: 4_000_000_000,
    use: use ?? 'single',
    authorization_details: [
      {
        actions: actions ?? ['claims:read'],
        resources: resources ?? ['claim:C-102'],
        purpose: 'investigation',
        bounds: bounds ?? { claim_id: { exact: 'C-102' } },
      },
    ],
  };
  const token = Buffer.from(JSON.stringify(lease)).toString('base64url');
  return {
    token,
    leaseId: jti,
    audience,
    expiresAt: lease.exp,
    prove: (method, target, body) =>
      Buffer.from(JSON.stringify({ method, target, body: digestOfBytes(body), n: (count += 1) })).toString('base64url'),
  };
}

const deny = (code: string): Refusal => ({
  outcome: 'deny',
  code,
  boundary: 'mcp',
  message: `${code}.`,
  guard: code,
});
const open = (text: string): never => JSON.parse(Buffer.from(text, 'base64url').toString()) as never;

export function guardFor(audience: string): Guard {
  return {
    authenticate: ({ authorization, proof, method, target, body }) => {
      if (!authorization?.startsWith('DPoP ')) return deny('lease_missing');
      if (proof === undefined) return deny('proof_missing');
      const lease: LeaseClaims = open(authorization.slice(5));
      const shown: { method: string; target: string; body: string } = open(proof);
      if (lease.aud !== audience) return deny('audience');
      if (shown.method !== method || shown.target !== target) return deny('proof_target');
      if (shown.body !== digestOfBytes(body)) return deny('body_digest');
      const value = {
        lease,
        token: '',
        signingInputDigest: digestOfBytes(authorization),
        workload: 'claims',
        requestDigest: digestOfBytes(body),
      };
      return { outcome: 'permit', value };
    },
    authorize: (authenticated, operation) => {
      const { lease } = authenticated;
      const [detail] = lease.authorization_details;
      if (!detail) return deny('detail_type');
      if ((lease.use === 'control') !== (operation.lease === 'control')) return deny('lease_kind');
      if (!detail.actions.includes(operation.action)) return deny('action');
      if (operation.lease === 'work' && operation.resources.length === 0) return deny('resource');
      if (operation.resources.some((resource) => !detail.resources.includes(resource))) return deny('resource');
      if (operation.purpose !== undefined && operation.purpose !== detail.purpose) return deny('purpose');
      if (operation.arguments && checkBounds(detail.bounds, operation.arguments).length > 0) return deny('bounds');
      return { outcome: 'permit', value: authenticated };
    },
    consumption: ({ lease, requestDigest }) => ({
      table: 'consumption',
      issuer: lease.iss,
      leaseId: lease.jti,
      requestDigest,
      expiresAt: lease.exp,
      useCountMax: lease.use.startsWith('count:') ? Number(lease.use.slice(6)) : 1,
    }),
  };
}

export const refuse: AnswerRefusal = ({ outcome, code, boundary, message }) => ({
  status: code === 'lease_consumed' ? 409 : /^(lease_missing|audience|proof|body)/.test(code) ? 401 : 403,
  headers: { 'content-type': 'application/problem+json', 'www-authenticate': 'DPoP algs="ES256"' },
  body: JSON.stringify({ outcome, code, boundary, detail: message }),
});
