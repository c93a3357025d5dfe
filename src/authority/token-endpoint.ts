/**
 * RFC 8693 token exchange: a workload presents the lease that it received and its own credential and is given a narrower one for one
 * tool server. Client → proof → subject token → target → narrowing → registry, in this order; the exchange, the debit of the
 * parent's use and the registry row are written together before the token is handed out. Source: LEASE "Minting", "Narrowing".
 */
import { LEASE_LIFETIME_S_DEFAULT, type LeaseClaims } from '#contracts/lease.ts';
import type { Digest } from '#contracts/ids.ts';
import { checkNarrowing } from '#kernel/narrowing.ts';
import type { RecordWrite } from '#ports/store.ts';
import { ASSERTION_KEEP_MS, authenticateClient } from './client-authentication.ts';
import type { EmbeddedIssuerOptions, WorkloadClient } from './issuer-options.ts';
import { thumbprint } from './es256.ts';
import { runSteps, type GuardStep, type NamedFinding } from './guard-step.ts';
import { useCount } from './lease-use.ts';
import { leaseRowOf, toLeaseClaims } from './lease-claims.ts';
import { detailSteps, leaseAttempt, leaseOf, leaseSteps, signLease, type LeaseAttempt } from './lease-token.ts';
import { proofAttempt, proofReplayWindow, proofSteps, type ProofAttempt } from './proof-steps.ts';
import { createReplayWindow, type ReplayWindow } from './replay-window.ts';
import { sha256Base64Url, sha256Digest } from './sha256.ts';
import { TOKEN_TYPE_ACCESS, readExchangeForm, refuse } from './token-request.ts';
import type { ExchangeForm, TokenRefusal, TokenRequest, TokenStep } from './token-request.ts';

export type { TokenRequest } from './token-request.ts';

export interface TokenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

interface Endpoint {
  readonly options: EmbeddedIssuerOptions;
  readonly assertions: ReplayWindow;
  readonly proof: readonly GuardStep<ProofAttempt>[];
  readonly lease: readonly GuardStep<LeaseAttempt>[];
}

interface Parent {
  readonly claims: LeaseClaims;
  readonly signingInputDigest: Digest;
}

const ASSERTION_COUNT_MAX = 250_000;
/** A child for more calls than this is refused: each is a row in the debit. */
const USE_COUNT_MAX = 256;
const DEBIT_KEEP_S = 60;
const NOTHING_IGNORED: ReadonlySet<string> = new Set();

/** The handler to mount at the token endpoint's path. */
export function createTokenEndpoint(options: EmbeddedIssuerOptions): (request: TokenRequest) => Promise<TokenAnswer> {
  const { issuer, signer } = options;
  const endpoint: Endpoint = {
    options,
    assertions: createReplayWindow({ keepMs: ASSERTION_KEEP_MS, entryCountMax: ASSERTION_COUNT_MAX }),
    proof: proofSteps(proofReplayWindow(), options.verifier),
    lease: [...leaseSteps([{ issuer, keys: [signer.publicJwk] }], options.verifier), ...detailSteps()],
  };
  return async (request) => {
    const checked = checkExchange(endpoint, request);
    if (!checked.ok) return refusalAnswer(checked.refusal);
    const { child, parent } = checked.value;
    const refused = await record(options, child, parent).catch(() => registryFailed);
    return refused === undefined ? grantAnswer(options, child) : refusalAnswer(refused);
  };
}

/** Everything that can be decided without the registry; synchronous, so that no replay slips between check and use. */
function checkExchange(
  endpoint: Endpoint,
  request: TokenRequest,
): TokenStep<{ readonly child: LeaseClaims; readonly parent: LeaseClaims }> {
  const { options } = endpoint;
  const nowMs = options.clock.nowMs();
  const form = readExchangeForm(request);
  if (!form.ok) return form;
  const client = authenticateClient(form.value.clientAssertion, {
    clients: options.clients,
    audiences: [options.issuer, options.tokenEndpoint],
    window: endpoint.assertions,
    nowMs,
    verifier: options.verifier,
  });
  if (!client.ok) return client;
  const parent = checkPossession(endpoint, request, { form: form.value, client: client.value, nowMs });
  if (!parent.ok) return parent;
  if (!options.audiences(form.value.resource)) {
    return refuse({ status: 400, error: 'invalid_target', code: 'audience', message: 'Expected a known resource.' });
  }
  const child = childOf(options, { form: form.value, client: client.value, parent: parent.value, nowMs });
  if (!child.ok) return child;
  const [widening] = checkNarrowing(child.value, parent.value.claims, parent.value.signingInputDigest);
  if (widening !== undefined) {
    const error = widening.dimension === 'aud' ? 'invalid_target' : 'invalid_authorization_details';
    return refuse({ status: 400, error, code: `narrowing.${widening.dimension}`, message: widening.message });
  }
  return { ok: true, value: { child: child.value, parent: parent.value.claims } };
}

interface ExchangeFacts {
  readonly form: ExchangeForm;
  readonly client: WorkloadClient;
  readonly nowMs: number;
}

/** The proof by the client's own key, and the presented lease: addressed to this client, valid now. */
function checkPossession(endpoint: Endpoint, request: TokenRequest, facts: ExchangeFacts): TokenStep<Parent> {
  const { client, form, nowMs } = facts;
  const proof = proofAttempt({
    proof: request.headers['dpop'],
    method: request.method,
    target: endpoint.options.tokenEndpoint,
    bodyDigest: sha256Base64Url(request.body),
    nowMs,
    jkt: thumbprint(client.publicJwk),
    token: undefined,
  });
  const inProof = runSteps(endpoint.proof, proof, NOTHING_IGNORED);
  if (inProof !== undefined) return refuse(asRefusal(inProof, 'invalid_dpop_proof'));
  const lease = leaseAttempt(form.subjectToken, client.audiences, nowMs);
  const inLease = runSteps(endpoint.lease, lease, NOTHING_IGNORED);
  const claims = leaseOf(lease);
  if (inLease !== undefined || claims === undefined || lease.jws === undefined) {
    const message = 'Expected a lease as subject_token.';
    return refuse(
      asRefusal(inLease ?? { outcome: 'deny', code: 'claims_shape', message, guard: 'shape' }, 'invalid_grant'),
    );
  }
  if (claims.use === 'control') {
    const message = 'Expected a work lease; a control lease is never exchanged.';
    return refuse({ status: 400, error: 'invalid_grant', code: 'lease_kind', message });
  }
  return { ok: true, value: { claims, signingInputDigest: sha256Digest(lease.jws.signingInput) } };
}

/** The child as asked for; whether it is inside its parent is decided after. */
function childOf(
  options: EmbeddedIssuerOptions,
  facts: ExchangeFacts & { readonly parent: Parent },
): TokenStep<LeaseClaims> {
  const { form, client, parent, nowMs } = facts;
  const { claims } = parent;
  const now = Math.floor(nowMs / 1_000);
  try {
    const child = toLeaseClaims({
      ...claims,
      aud: form.resource,
      client_id: client.clientId,
      iat: now,
      nbf: Math.max(now, claims.nbf),
      exp: Math.min(now + LEASE_LIFETIME_S_DEFAULT, claims.exp),
      jti: options.ids.next('lse'),
      cnf: { jkt: thumbprint(client.publicJwk) },
      act: { sub: client.workload, act: claims.act },
      authorization_details: form.authorizationDetails,
      task: { ...claims.task, task_id: form.taskId, context_id: form.contextId },
      dlg: { depth: claims.dlg.depth + 1, max: claims.dlg.max, par: parent.signingInputDigest },
      use: form.use,
    });
    if (child.use !== 'control' && useCount(child.use) <= USE_COUNT_MAX) return { ok: true, value: child };
    const message = `Expected a use of single or count:n with n ≤ ${USE_COUNT_MAX}.`;
    return refuse({ status: 400, error: 'invalid_request', code: 'use', message });
  } catch {
    const message = `Expected one lawful authorization detail and use; the lease exchanged for is ${claims.jti}.`;
    return refuse({ status: 400, error: 'invalid_authorization_details', code: 'claims_shape', message });
  }
}

/** Registry: the parent is known, alive and bound to this task; row, exchange and debit are written together. */
async function record(
  { registry, issuer }: EmbeddedIssuerOptions,
  child: LeaseClaims,
  parent: LeaseClaims,
): Promise<TokenRefusal | undefined> {
  const grant = { status: 400, error: 'invalid_grant' } as const;
  const row = await registry.lease(parent.tenant, parent.jti);
  if (row === undefined || row.revokedAt !== undefined) {
    const code = row === undefined ? 'lease_unknown' : 'lease_revoked';
    return { ...grant, code, message: `Expected a live lease of the registry; ${parent.jti} is none.` };
  }
  if (!(await registry.bindLeaseTask({ tenant: parent.tenant, leaseId: parent.jti }, child.task.task_id ?? ''))) {
    return { ...grant, code: 'task', message: `Expected the task to which lease ${parent.jti} is bound.` };
  }
  const written = await registry.write([
    { table: 'lease', row: leaseRowOf(child, parent.jti) },
    exchangeRecord(child, parent),
    ...debitRecords(issuer, child, parent),
  ]);
  if (written.ok) return undefined;
  const table = written.conflict === 'record' ? written.table : undefined;
  if (table === 'idempotency') {
    const message = `Lease ${parent.jti} has been exchanged for ${child.aud} before; once per step and tool server.`;
    return { ...grant, code: 'already_exchanged', message };
  }
  if (table === 'consumption') {
    return { ...grant, code: 'use_exhausted', message: `Lease ${parent.jti} has fewer uses left than ${child.use}.` };
  }
  return registryFailed;
}

/** Nothing is handed out that the registry has not taken. */
const registryFailed: TokenRefusal = {
  status: 503,
  error: 'temporarily_unavailable',
  code: 'registry',
  message: 'The lease registry did not take the exchange; ask again with a fresh proof.',
};

/** One exchange per parent and audience. */
function exchangeRecord(child: LeaseClaims, parent: LeaseClaims): RecordWrite {
  const scope = `exchange:${parent.jti}`;
  const { tenant, task, aud } = child;
  return { table: 'idempotency', tenant, scope, key: aud, requestDigest: sha256Digest(child.jti), runId: task.run };
}

/** What the child may use is taken from its parent, one row a use, so that the store's own count refuses an overdraft. */
function debitRecords(issuer: string, child: LeaseClaims, parent: LeaseClaims): readonly RecordWrite[] {
  return Array.from({ length: useCount(child.use) }, (_, index) => ({
    table: 'consumption',
    tenant: parent.tenant,
    issuer,
    leaseId: `exchange:${parent.jti}`,
    useCountMax: useCount(parent.use),
    requestDigest: sha256Digest(`${child.jti} ${index}`),
    expiresAt: parent.exp + DEBIT_KEEP_S,
  }));
}

function grantAnswer({ signer, clock }: EmbeddedIssuerOptions, child: LeaseClaims): TokenAnswer {
  return answer(200, {
    access_token: signLease(signer, child),
    issued_token_type: TOKEN_TYPE_ACCESS,
    token_type: 'DPoP',
    expires_in: Math.max(1, child.exp - Math.floor(clock.nowMs() / 1_000)),
    authorization_details: child.authorization_details,
  });
}

function refusalAnswer({ status, error, code, message }: TokenRefusal): TokenAnswer {
  const outcome = status === 503 ? 'retry' : 'deny';
  return answer(status, { error, error_description: message, outcome, code, boundary: 'issuer' });
}

function asRefusal({ code, message, outcome }: NamedFinding, error: string): TokenRefusal {
  if (outcome === 'retry') return { status: 503, error: 'temporarily_unavailable', code, message };
  return { status: 400, error, code, message };
}

function answer(status: number, body: Readonly<Record<string, unknown>>): TokenAnswer {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { status, headers, body: JSON.stringify(body) };
}
