/** The authority lab's cases that a guard alone decides: one changed feature each, judged by outcome and by the step that refused. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { Authenticated, Checked, Guard, GuardOperation, GuardRequest } from '#ports/guard.ts';
import type { Signer } from '#ports/signer.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import {
  SUPERVISOR_WORKLOAD,
  TEAM,
  TEAM_WORKLOAD,
  TOOLS,
  leaseWorld,
  presented,
  sendOperation,
  type LeaseWorld,
  type Presented,
} from '#testing/lease-world.ts';
import { encodeBase64Url } from './base64url.ts';
import { generateSigner } from './es256.ts';
import { createGuard, consumedRefusal, guardStepNames } from './guard.ts';
import type { GuardOptions } from './guard-options.ts';
import { createPolicyTable } from './policy-table.ts';

/** What one case changes; everything else is lawful. */
interface Change {
  readonly claims?: (world: LeaseWorld) => Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly issuerKey?: Signer;
  /** The token from its lawful text. */
  readonly token?: (token: string, world: LeaseWorld) => string;
  readonly proof?: Partial<Presented> | ((world: LeaseWorld) => Partial<Presented>);
  readonly request?: (request: GuardRequest) => GuardRequest;
  readonly operation?: Partial<GuardOperation>;
  readonly guard?: Partial<GuardOptions> | ((world: LeaseWorld) => Partial<GuardOptions>);
  readonly waitMs?: number;
  /** Present the same request once before. */
  readonly twice?: boolean;
}

interface Verdict {
  readonly outcome: string;
  readonly guard: string | undefined;
}

type Case = readonly [id: string, name: string, outcome: string, guard: string | undefined, change: Change];

const retired = generateSigner();
const other = generateSigner();
const now = ({ clock }: LeaseWorld): number => Math.floor(clock.nowMs() / 1_000);
const detail = (world: LeaseWorld): LeaseClaims['authorization_details'][number] => {
  const [only] = world.claims().authorization_details;
  assert.ok(only);
  return only;
};
const args = (over: Readonly<Record<string, unknown>>): Change => ({
  operation: { arguments: { claim_id: 'C-102', row_count: 10, fields: ['status'], ...over } },
});
const withHeader = (header: Readonly<Record<string, unknown>>, token: string): string =>
  [encodeBase64Url(JSON.stringify(header)), ...token.split('.').slice(1)].join('.');
/** A lease one exchange deep, as the team has it for its tool server. */
const child = (over: Readonly<Record<string, unknown>> = {}): Change => ({
  claims: (world) => ({
    aud: TOOLS,
    client_id: 'team-claims',
    cnf: { jkt: world.teamKey.thumbprint },
    act: { sub: TEAM_WORKLOAD, act: { sub: SUPERVISOR_WORKLOAD } },
    dlg: { depth: 1, max: 1, par: `sha256:${'0'.repeat(64)}` },
    authorization_details: [{ ...detail(world), locations: [TOOLS] }],
    ...over,
  }),
  proof: (world) => ({ holder: world.teamKey, target: TOOLS }),
  guard: { boundary: 'mcp', audience: TOOLS },
});

const envelope: readonly Case[] = [
  ['LAB-1', 'alg none', 'deny', 'algorithm', { token: (token) => withHeader({ alg: 'none', typ: 'at+jwt' }, token) }],
  ['LAB-2', 'HS256 with the public key as secret', 'deny', 'algorithm', { token: hs256 }],
  ['LAB-3', 'typ JWT', 'deny', 'token_type', { header: { typ: 'JWT' } }],
  ['LAB-4', 'unknown kid', 'deny', 'key', { header: { kid: 'k9' } }],
  ['LAB-5', 'retired kid', 'deny', 'key', { issuerKey: retired, header: { kid: retired.thumbprint } }],
  ['LAB-6', 'signed by another key', 'deny', 'signature', { issuerKey: other }],
  ['LAB-7', 'one payload byte changed', 'deny', 'signature', { token: flipPayload }],
  ['LAB-8', 'unknown crit', 'deny', 'critical_header', { header: { crit: ['x'], x: 1 } }],
  ['LAB-9', 'a claim named twice', 'deny', 'strict_json', { token: duplicateSubject }],
  ['LAB-10', 'oversize', 'deny', 'size', { claims: () => ({ pad: 'x'.repeat(17_000) }) }],
  ['LAB-11', 'no jti', 'deny', 'shape', { claims: () => ({ jti: undefined }) }],
  ['LAB-13', 'another issuer', 'deny', 'issuer', { claims: () => ({ iss: 'https://evil.test' }) }],
  ['LAB-14', 'another audience', 'deny', 'audience', { claims: () => ({ aud: 'https://team-legal.test/a2a' }) }],
  [
    'LAB-15',
    'an audience array that contains ours',
    'deny',
    'shape',
    { claims: () => ({ aud: [TEAM, 'https://e.test'] }) },
  ],
  ['LAB-16', 'not yet valid', 'retry', 'not_before', { claims: (world) => ({ nbf: now(world) + 60 }) }],
  ['LAB-17', 'expired', 'deny', 'expiry', { waitMs: 121_000 }],
  ['LAB-18', 'expires exactly now', 'deny', 'expiry', { waitMs: 120_000 }],
  ['LAB-19', 'lifetime of an hour', 'deny', 'lifetime', { claims: (world) => ({ exp: now(world) + 3_600 }) }],
  ['LAB-20', 'issued in the future', 'deny', 'issued_at', { claims: (world) => ({ iat: now(world) + 90 }) }],
  ['own', 'no lease', 'deny', 'lease', { request: (request) => ({ ...request, authorization: undefined }) }],
  ['own', 'a bearer lease', 'deny', 'lease', { request: bearer }],
  ['own', 'four segments', 'deny', 'header', { token: (token) => `${token}.x` }],
  [
    'own',
    'header that is no JSON',
    'deny',
    'header',
    { token: (token) => `${encodeBase64Url('{')}${token.slice(token.indexOf('.'))}` },
  ],
];

const proofs: readonly Case[] = [
  ['LAB-21', 'no proof', 'deny', 'proof', { request: (request) => ({ ...request, proof: undefined }) }],
  ['LAB-22', "the thief's key", 'deny', 'proof_key', { proof: { holder: other } }],
  [
    'LAB-23',
    'bad signature',
    'deny',
    'proof_signature',
    { proof: (world) => ({ holder: posing(other, world.supervisorKey) }) },
  ],
  ['LAB-24', 'wrong typ', 'deny', 'proof_type', { proof: { proofHeader: { typ: 'JWT' } } }],
  ['LAB-25', 'for another URL', 'deny', 'proof_target', { proof: { proof: { htu: 'https://team-legal.test/a2a' } } }],
  ['LAB-25', 'for another method', 'deny', 'proof_target', { proof: { proof: { htm: 'GET' } } }],
  ['LAB-26', 'for another token', 'deny', 'proof_token', { proof: { proof: { ath: 'x'.repeat(43) } } }],
  ['LAB-27', '60 s old', 'deny', 'proof_time', { proof: (world) => ({ proof: { iat: now(world) - 60 } }) }],
  ['LAB-27', '60 s ahead', 'deny', 'proof_time', { proof: (world) => ({ proof: { iat: now(world) + 60 } }) }],
  ['LAB-28', 'replayed', 'deny', 'proof_replay', { twice: true }],
  [
    'LAB-29',
    'body changed',
    'deny',
    'proof_body',
    { request: (request) => ({ ...request, body: Buffer.from('{"q":2}') }) },
  ],
  [
    'own',
    'private key in the proof',
    'deny',
    'proof_format',
    { proof: (world) => ({ proofHeader: { jwk: { ...world.supervisorKey.publicJwk, d: 'x' } } }) },
  ],
  ['own', 'proof without body digest', 'deny', 'proof_claims', { proof: { proof: { caseops_bdg: undefined } } }],
  ['own', 'a key that no workload has', 'deny', 'workload', { guard: { workloads: () => undefined } }],
];

const scope: readonly Case[] = [
  ['LAB-32', 'another task', 'deny', 'task', { operation: { taskId: 'task-2' }, claims: bound({ task_id: 'task-1' }) }],
  [
    'LAB-33',
    'another context',
    'deny',
    'context',
    { operation: { contextId: 'ctx-2' }, claims: bound({ context_id: 'ctx-1' }) },
  ],
  ['LAB-34', 'another step', 'deny', 'step', { operation: { step: 's3' } }],
  ['LAB-34', 'another attempt', 'deny', 'step', { operation: { attempt: 2 } }],
  ['LAB-35', 'plan recompiled', 'deny', 'plan', { operation: { planDigest: `sha256:${'1'.repeat(64)}` } }],
  ['own', 'another run', 'deny', 'run', { operation: { run: 'run_other' } }],
  ['LAB-36', 'another subject', 'deny', 'subject', { operation: { subject: 'dev@t9' } }],
  ['LAB-37', 'another actor', 'deny', 'actor', { claims: () => ({ act: { sub: 'spiffe://caseops.test/other' } }) }],
  ['LAB-41', 'a wider action', 'deny', 'action', { operation: { action: 'claims:approve' } }],
  ['LAB-42', 'another resource', 'deny', 'resource', { operation: { resources: ['claim:C-102', 'claim:C-103'] } }],
  ['LAB-43', 'a case variant', 'deny', 'resource', { operation: { resources: ['claim:c-102'] } }],
  [
    'LAB-44',
    'another server',
    'deny',
    'location',
    child({ authorization_details: [{ ...detail(leaseWorld()), locations: ['https://crm.test/mcp'] }] }),
  ],
  ['LAB-45', 'another purpose', 'deny', 'purpose', { operation: { purpose: 'marketing' } }],
  ['LAB-46', 'a higher data class', 'deny', 'datatype', { operation: { datatypes: ['internal', 'personal'] } }],
  ['LAB-47', 'one over the bound', 'deny', 'bounds', args({ row_count: 51 })],
  ['LAB-48', 'exactly the bound', 'permit', undefined, args({ row_count: 50 })],
  ['LAB-49', 'NaN', 'deny', 'bounds', args({ row_count: Number.NaN })],
  ['LAB-50', 'a number as a string', 'deny', 'bounds', args({ row_count: '10' })],
  ['LAB-51', 'a value outside the set', 'deny', 'bounds', args({ fields: ['status', 'ssn'] })],
  ['LAB-52', 'an extra argument', 'deny', 'bounds', args({ path: '/etc/passwd' })],
  [
    'LAB-53',
    'an unknown detail type',
    'deny',
    'detail_type',
    { claims: (world) => ({ authorization_details: [{ ...detail(world), type: 'x' }] }) },
  ],
  [
    'LAB-53',
    'two details',
    'deny',
    'detail_type',
    { claims: (world) => ({ authorization_details: [detail(world), detail(world)] }) },
  ],
  [
    'LAB-54',
    'an unknown bound type',
    'deny',
    'bound_type',
    { claims: (world) => ({ authorization_details: [{ ...detail(world), bounds: { claim_id: { regex: '.*' } } }] }) },
  ],
  ['LAB-112', 'another tenant', 'deny', 'tenant', { operation: { tenant: 't8' } }],
  [
    'LAB-114',
    'a work lease to read a task',
    'deny',
    'lease_kind',
    { operation: { action: 'task:read', lease: 'control' } },
  ],
  ['LAB-115', 'a control lease for work', 'deny', 'lease_kind', { claims: () => ({ use: 'control' }) }],
];

const chain: readonly Case[] = [
  ['LAB-55', 'a valid narrower child', 'permit', undefined, child()],
  ['LAB-62', 'a shortened actor chain', 'deny', 'actor_chain', child({ act: { sub: TEAM_WORKLOAD } })],
  ['LAB-62', 'a depth without its parent', 'deny', 'actor_chain', child({ dlg: { depth: 1, max: 1 } })],
  [
    'LAB-63',
    'deeper than allowed',
    'deny',
    'depth',
    child({ dlg: { depth: 1, max: 0, par: `sha256:${'0'.repeat(64)}` } }),
  ],
  ['LAB-64', 'an earlier actor is suspended', 'deny', 'suspended_actor', suspended()],
  [
    'LAB-116',
    'a kill switch is on',
    'deny',
    'kill_switch',
    { guard: { killSwitch: ({ tenant }) => (tenant === 't9' ? 'tenant' : undefined) } },
  ],
  ['LAB-119', "the team's own policy refuses", 'deny', 'policy', { guard: { policy: createPolicyTable([]) } }],
  [
    'own',
    'minted under another policy',
    'deny',
    'policy_version',
    { guard: { policyDigest: `sha256:${'2'.repeat(64)}` } },
  ],
  ['N1', 'plain', 'permit', undefined, {}],
  ['N8', 'task:read of a task', 'permit', undefined, reading()],
];

const cases = [...envelope, ...proofs, ...scope, ...chain];

for (const [id, name, outcome, guard, change] of cases) {
  void test(`lab ${id}: ${name} → ${outcome}${guard === undefined ? '' : ` by ${guard}`}`, () => {
    assert.deepEqual(judge(change, []), { outcome, guard });
  });
}

void test('each guard step is missed by a case when it is taken out', () => {
  const steps = guardStepNames({ ...optionsOf(leaseWorld()) });
  assert.ok(steps.length > 40, `only ${steps.length} steps`);
  assert.equal(new Set(steps).size, steps.length);
  for (const step of steps) {
    const own = cases.filter(([, , , guard]) => guard === step);
    assert.ok(own.length > 0, `no case is refused by ${step}`);
    for (const [id, , outcome, guard, change] of own) {
      const got = judge(change, [step]);
      assert.notDeepEqual(got, { outcome, guard }, `case ${id} does not notice that ${step} is missing`);
    }
  }
});

void test('LAB-39: a second message under a used lease is refused by consumption, the same message is not', async () => {
  const world = leaseWorld();
  await using store = openSqliteStore({ path: ':memory:', clock: world.clock });
  const guard = world.guard();
  const take = async (jti: string, body: string): Promise<string> => {
    const got = guard.authenticate(requestOf(world, { proof: { jti, body } }));
    assert.equal(got.outcome, 'permit');
    const record = guard.consumption(got.value);
    const written = await store.write([record]);
    if (written.ok) return 'permit';
    assert.equal(written.conflict, 'record');
    const same = record.table === 'consumption' && written.requestDigest === record.requestDigest;
    return same ? 'stored answer' : consumedRefusal('a2a').code;
  };
  assert.equal(await take('p1', '{"q":1}'), 'permit');
  assert.equal(await take('p2', '{"q":1}'), 'stored answer');
  assert.equal(await take('p3', '{"q":2}'), 'lease_consumed');
});

/** The guard's answer to the one changed thing. */
function judge(change: Change, without: readonly string[]): Verdict {
  const world = leaseWorld();
  const request = requestOf(world, change);
  const made = typeof change.guard === 'function' ? change.guard(world) : change.guard;
  const guard = world.guard({ ...made, without });
  if (change.waitMs !== undefined) world.clock.jump(change.waitMs);
  if (change.twice === true) guard.authenticate(request);
  const got = authorized(guard, request, sendOperation(change.operation));
  return { outcome: got.outcome, guard: got.outcome === 'permit' ? undefined : got.guard };
}

function authorized(guard: Guard, request: GuardRequest, operation: GuardOperation): Checked<Authenticated> {
  const got = guard.authenticate(request);
  return got.outcome === 'permit' ? guard.authorize(got.value, operation) : got;
}

function requestOf(world: LeaseWorld, change: Change): GuardRequest {
  const claims = world.claims(change.claims?.(world));
  const issuerKey = change.issuerKey ?? world.issuerKey;
  const header = { typ: 'at+jwt', kid: world.issuerKey.thumbprint, ...change.header };
  const lawful = issuerKey.sign(header, claims);
  const token = change.token?.(lawful, world) ?? lawful;
  const proof = typeof change.proof === 'function' ? change.proof(world) : change.proof;
  // A proof made when the request is shown, so that waiting ages the lease alone.
  const clock = { ...world.clock, nowMs: () => world.clock.nowMs() + (change.waitMs ?? 0) };
  const request = presented({ token, holder: world.supervisorKey, clock, jti: 'proof-1', ...proof });
  return change.request?.(request) ?? request;
}

function optionsOf(world: LeaseWorld): GuardOptions {
  return { boundary: 'a2a', audience: TEAM, issuers: [], clock: world.clock, workloads: () => undefined };
}

void test('without pinned issuers nothing passes', () => {
  const world = leaseWorld();
  const got = createGuard(optionsOf(world)).authenticate(requestOf(world, {}));
  assert.equal(got.outcome === 'deny' && got.guard, 'key');
});

/** Signs with one key and shows another. */
function posing(signing: Signer, shown: Signer): Signer {
  return { ...signing, publicJwk: shown.publicJwk };
}

function hs256(token: string, world: LeaseWorld): string {
  const body = token.split('.')[1] ?? '';
  const head = encodeBase64Url(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid: world.issuerKey.thumbprint }));
  const mac = createHmac('sha256', JSON.stringify(world.issuerKey.publicJwk)).update(`${head}.${body}`);
  return `${head}.${body}.${mac.digest('base64url')}`;
}

function flipPayload(token: string): string {
  const [head, body = '', signature] = token.split('.');
  const text = Buffer.from(body, 'base64url').toString().replace('lse_world-lease', 'lse_world-leasf');
  return `${head}.${encodeBase64Url(text)}.${signature}`;
}

function duplicateSubject(_token: string, world: LeaseWorld): string {
  const { issuerKey } = world;
  const text = JSON.stringify(world.claims()).replace('"sub":', '"sub":"ceo@t9","sub":');
  return issuerKey.signText({ typ: 'at+jwt', kid: issuerKey.thumbprint }, text);
}

function bearer(request: GuardRequest): GuardRequest {
  return { ...request, authorization: request.authorization?.replace('DPoP', 'Bearer') };
}

function bound(task: Readonly<Record<string, string>>): NonNullable<Change['claims']> {
  return (world) => ({ task: { ...world.claims().task, ...task } });
}

function suspended(): Change {
  const base = child();
  const guard = {
    boundary: 'mcp',
    audience: TOOLS,
    suspendedActor: (actor: string) => actor === SUPERVISOR_WORKLOAD,
  } as const;
  return { ...base, guard };
}

function reading(): Change {
  return {
    claims: (world) => ({
      use: 'control',
      dlg: { depth: 0, max: 0 },
      task: { ...world.claims().task, task_id: 'task-1' },
      authorization_details: [
        { ...detail(world), actions: ['task:read'], resources: ['task:task-1'], purpose: 'control', bounds: {} },
      ],
    }),
    operation: {
      action: 'task:read',
      resources: [],
      purpose: undefined,
      datatypes: [],
      arguments: undefined,
      taskId: 'task-1',
      lease: 'control',
    },
  };
}
