/**
 * How many leases a guard checks and an issuer mints, in isolation and without a commit: lease and proof verified, authorised against
 * bounds and policy, consumption made. Prints one check object. Source: DESIGN §9 (≥ 2,500 checks per CPU-second, ≥ 1,000 mints/s).
 */
import { verifier } from '#authority/es256.ts';
import type { LeaseRegistry } from '#authority/issuer-options.ts';
import type { GuardRequest } from '#ports/guard.ts';
import { leaseWorld, presented, sendOperation, type LeaseWorld } from '#testing/lease-world.ts';

const CHECK_COUNT = 20_000;
const MINT_COUNT = 10_000;
const WARM_UP_COUNT = 2_000;
const CHECKS_PER_CPU_SECOND_MIN = 2_500;
const MINTS_PER_SECOND_MIN = 1_000;
const CHECK_P99_MS_MAX = 3;

const closed: LeaseRegistry = {
  lease: () => Promise.resolve(undefined),
  bindLeaseTask: () => Promise.resolve(false),
  write: () => Promise.resolve({ ok: false, conflict: 'sequence', actualSeq: 0 }),
};

const world = leaseWorld();
const bare = measureBare(world);
const checks = measureChecks(world);
const mints = measureMints(world);
const figures = { ...bare, ...checks, ...mints };
const limits = [
  [
    'checks_per_cpu_second',
    checks.checks_per_cpu_second >= CHECKS_PER_CPU_SECOND_MIN,
    `≥ ${CHECKS_PER_CPU_SECOND_MIN}`,
  ],
  ['check_p99_ms', checks.check_p99_ms <= CHECK_P99_MS_MAX, `≤ ${CHECK_P99_MS_MAX}`],
  ['mints_per_second', mints.mints_per_second >= MINTS_PER_SECOND_MIN, `≥ ${MINTS_PER_SECOND_MIN}`],
] as const;
const failures = limits.flatMap(([id, held, expected]) => (held ? [] : [{ id, expected, got: String(figures[id]) }]));
const ok = failures.length === 0;
const counts = { passed: limits.length - failures.length, failed: failures.length, pending: 0, notTested: 0 };
const date = new Date().toISOString();
console.log(JSON.stringify({ name: 'bench:authority', ok, counts, figures, failures, date }));
process.exitCode = ok ? 0 : 1;

/** What two signatures cost alone, on this machine at this moment: the yardstick for the checks around them. */
function measureBare(at: LeaseWorld) {
  const [header, body, signature = ''] = at.issuerKey
    .sign({ typ: 'at+jwt', kid: at.issuerKey.thumbprint }, at.claims())
    .split('.');
  const twice = (): void => {
    for (let index = 0; index < 2; index += 1) verifier.verify(at.issuerKey.publicJwk, `${header}.${body}`, signature);
  };
  for (let index = 0; index < WARM_UP_COUNT; index += 1) twice();
  const cpu = process.cpuUsage();
  for (let index = 0; index < CHECK_COUNT / 4; index += 1) twice();
  const { user, system } = process.cpuUsage(cpu);
  return { bare_signature_pairs_per_cpu_second: Math.round((CHECK_COUNT / 4) * (1_000_000 / (user + system))) };
}

/** Every request has a lease and a proof of its own, as sends have. */
function measureChecks(at: LeaseWorld) {
  const guard = at.guard();
  const operation = sendOperation();
  const requests = Array.from({ length: WARM_UP_COUNT + CHECK_COUNT }, (_, index) => request(at, index));
  const check = (shown: GuardRequest): void => {
    const got = guard.authenticate(shown);
    const may = got.outcome === 'permit' ? guard.authorize(got.value, operation) : got;
    if (may.outcome !== 'permit') throw new Error(`a lawful request was refused by ${may.guard}`);
    guard.consumption(may.value);
  };
  requests.slice(0, WARM_UP_COUNT).forEach(check);
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (const shown of requests.slice(WARM_UP_COUNT)) {
    const start = performance.now();
    check(shown);
    latencies.push(performance.now() - start);
  }
  const elapsedMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  return {
    check_count: CHECK_COUNT,
    checks_per_cpu_second: Math.round((CHECK_COUNT * 1_000_000) / (user + system)),
    checks_per_second: Math.round((CHECK_COUNT * 1_000) / elapsedMs),
    check_p50_ms: rounded(latencies[CHECK_COUNT / 2]),
    check_p99_ms: rounded(latencies[Math.floor(CHECK_COUNT * 0.99)]),
  };
}

function measureMints(at: LeaseWorld) {
  const issuer = at.issuer(closed);
  for (let index = 0; index < WARM_UP_COUNT; index += 1) issuer.mintWork(at.workRequest());
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (let index = 0; index < MINT_COUNT; index += 1) issuer.mintWork(at.workRequest());
  const elapsedMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return {
    mint_count: MINT_COUNT,
    mints_per_second: Math.round((MINT_COUNT * 1_000) / elapsedMs),
    mints_per_cpu_second: Math.round((MINT_COUNT * 1_000_000) / (user + system)),
  };
}

function request(at: LeaseWorld, index: number): GuardRequest {
  const { issuerKey, supervisorKey, clock } = at;
  const claims = at.claims({ jti: `lse_bench-${index}` });
  const token = issuerKey.sign({ typ: 'at+jwt', kid: issuerKey.thumbprint }, claims);
  return presented({ token, holder: supervisorKey, clock, jti: `p-${index}` });
}

function rounded(ms: number | undefined): number {
  return Math.round((ms ?? Number.NaN) * 1_000) / 1_000;
}
