/**
 * The one guard, for every transport. Its steps are a table in the order of LEASE "Checking"; the first that refuses answers, under
 * its name. Synchronous throughout: nothing may interleave between a check and what it permits.
 */
import type { Authenticated, Checked, Guard, GuardBoundary, GuardRequest, Refusal } from '#ports/guard.ts';
import type { RecordWrite } from '#ports/store.ts';
import { authorizeSteps, type Authorization } from './authorize-steps.ts';
import type { GuardOptions } from './guard-options.ts';
import { deny, runSteps, type GuardStep, type NamedFinding } from './guard-step.ts';
import { useCount } from './lease-use.ts';
import { detailSteps, leaseAttempt, leaseOf, leaseSteps, type LeaseAttempt } from './lease-token.ts';
import { proofAttempt, proofReplayWindow, proofSteps, type ProofAttempt } from './proof-steps.ts';
import { sha256Base64Url, sha256Digest } from './sha256.ts';

interface GuardTables {
  readonly lease: readonly GuardStep<LeaseAttempt>[];
  readonly proof: readonly GuardStep<ProofAttempt>[];
  readonly detail: readonly GuardStep<LeaseAttempt>[];
  readonly workload: readonly GuardStep<WorkloadAttempt>[];
  readonly authorize: readonly GuardStep<Authorization>[];
}

interface WorkloadAttempt {
  readonly jkt: string;
  workload: string | undefined;
}

/** Kept this long after the lease's end, so that no clock within the skew sees a used lease as new. */
const CONSUMPTION_KEEP_S = 60;

export function createGuard(options: GuardOptions): Guard {
  const tables = guardTables(options);
  const ignored = new Set(options.without);
  const { boundary } = options;
  return {
    authenticate: (request) => authenticate({ options, tables, ignored }, request),
    authorize(authenticated, operation) {
      const [detail] = authenticated.lease.authorization_details;
      if (detail === undefined) return refusal(boundary, { ...noLease, guard: 'detail_type' });
      const { lease, workload } = authenticated;
      const found = runSteps(tables.authorize, { lease, detail, workload, operation }, ignored);
      return found === undefined ? { outcome: 'permit', value: authenticated } : refusal(boundary, found);
    },
    consumption: (authenticated) => consumption(boundary, authenticated),
  };
}

/** The names of a guard's steps, in order; the authority lab removes them one at a time. */
export function guardStepNames(options: GuardOptions): readonly string[] {
  const { lease, proof, detail, workload, authorize } = guardTables(options);
  return [lease, proof, detail, workload, authorize].flatMap((table) =>
    table.map((step: { name: string }) => step.name),
  );
}

/** The answer when the store says that the lease has been used for another request. */
export function consumedRefusal(boundary: GuardBoundary): Refusal {
  const message = 'This lease has been used for another request.';
  return { outcome: 'deny', code: 'lease_consumed', message, guard: 'consume', boundary };
}

const noLease = deny('detail_type', 'Expected an authenticated lease.');

function guardTables(options: GuardOptions): GuardTables {
  return {
    lease: leaseSteps(options.issuers, options.verifier),
    proof: proofSteps(options.replayWindow ?? proofReplayWindow(), options.verifier),
    detail: detailSteps(),
    workload: [
      {
        name: 'workload',
        check: (at) => {
          at.workload = options.workloads(at.jkt);
          return at.workload === undefined
            ? deny('workload_unknown', 'Expected the key of a workload that is pinned here.')
            : undefined;
        },
      },
    ],
    authorize: authorizeSteps(options),
  };
}

function authenticate(
  guard: { readonly options: GuardOptions; readonly tables: GuardTables; readonly ignored: ReadonlySet<string> },
  request: GuardRequest,
): Checked<Authenticated> {
  const { options, tables, ignored } = guard;
  const nowMs = options.clock.nowMs();
  const token = leaseFrom(request.authorization);
  const lease = leaseAttempt(token, [options.audience], nowMs);
  const inLease = runSteps(tables.lease, lease, ignored);
  if (inLease !== undefined) return refusal(options.boundary, inLease);

  const bodyDigest = sha256Base64Url(request.body);
  const { proof, method, target } = request;
  const jkt = lease.envelope?.cnf.jkt;
  const shown = proofAttempt({ proof, method, target, bodyDigest, nowMs, jkt, token });
  const inProof = runSteps(tables.proof, shown, ignored) ?? runSteps(tables.detail, lease, ignored);
  if (inProof !== undefined) return refusal(options.boundary, inProof);

  const bearer: WorkloadAttempt = { jkt: jkt ?? '', workload: undefined };
  const inWorkload = runSteps(tables.workload, bearer, ignored);
  if (inWorkload !== undefined) return refusal(options.boundary, inWorkload);
  const claims = leaseOf(lease);
  if (claims === undefined || token === undefined) return refusal(options.boundary, { ...noLease, guard: 'shape' });
  return {
    outcome: 'permit',
    value: {
      lease: claims,
      token,
      signingInputDigest: sha256Digest(lease.jws?.signingInput ?? ''),
      workload: bearer.workload ?? '',
      requestDigest: sha256Digest(`${method} ${target}\n${bodyDigest}`),
    },
  };
}

/** The lease of an `Authorization: DPoP …` header; another scheme carries none. The scheme's case does not matter (RFC 9110 §11.1). */
function leaseFrom(authorization: string | undefined): string | undefined {
  return authorization?.slice(0, 5).toLowerCase() === 'dpop ' ? authorization.slice(5) : undefined;
}

/**
 * A send uses its lease up whatever its count says: there the count is what its children may use together. At a tool, `count:n` is n
 * calls. Throws CaseOpsError (ERR_LEASE) for a control lease, which is never consumed.
 */
function consumption(boundary: GuardBoundary, { lease, requestDigest }: Authenticated): RecordWrite {
  const count = useCount(lease.use);
  return {
    table: 'consumption',
    tenant: lease.tenant,
    issuer: lease.iss,
    leaseId: lease.jti,
    useCountMax: boundary === 'a2a' ? 1 : count,
    requestDigest,
    expiresAt: lease.exp + CONSUMPTION_KEEP_S,
  };
}

function refusal(boundary: GuardBoundary, { outcome, code, message, guard }: NamedFinding): Refusal {
  return { outcome, code, message, guard, boundary };
}
