import type { TeamDefinition } from 'caseops';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { releaseCase } from './case.ts';
import { finding, type Finding, readFinding } from './finding.ts';
import { runSkill } from './run-skill.ts';

const now = (): string => '2026-07-23T09:00:00.000Z';

interface Teams extends Disposable {
  of(name: string): Promise<TeamDefinition>;
}

function teams(): Teams {
  const directory = mkdtempSync(join(tmpdir(), 'release-'));
  return {
    of: async (name) => {
      const factory = await releaseCase.teams[name]?.();
      assert.ok(factory, `the case has no team ${name}`);
      return factory({ directory: join(directory, name), now });
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

/** What the three branches say of a release, as their artifacts hold it. */
async function findings(place: Teams, release_id: string, traffic_percent = '25'): Promise<readonly Finding[]> {
  const request_id = 'promote-104';
  const results = await Promise.all([
    runSkill(await place.of('eval'), { skill: 'eval-check', input: { release_id, request_id } }),
    runSkill(await place.of('health'), { skill: 'health-check', input: { release_id, request_id } }),
    runSkill(await place.of('policy'), { skill: 'policy-check', input: { release_id, request_id, traffic_percent } }),
  ]);
  return results.map(({ result }) => {
    assert.equal(result.status, 'completed');
    return finding.parse(
      readFinding((result as unknown as { readonly data: { readonly finding: string } }).data.finding),
    );
  });
}

async function assess(place: Teams, [eval_finding, health_finding, policy_finding]: readonly unknown[]) {
  const input = {
    release_id: 'reranker-v17',
    request_id: 'promote-104',
    traffic_percent: '25',
    eval_finding: JSON.stringify(eval_finding),
    health_finding: JSON.stringify(health_finding),
    policy_finding: JSON.stringify(policy_finding),
  };
  return runSkill(await place.of('release'), { skill: 'assess-promotion', input });
}

test('four teams are defined; promoting is a contract that no worker can carry out', async () => {
  using place = teams();
  const skills = [];
  for (const name of Object.keys(releaseCase.teams)) skills.push(...(await place.of(name)).skills);
  assert.deepEqual(
    skills.map(({ team, skillId, available }) => `${team}/${skillId} ${available}`),
    [
      'release/resolve-release true',
      'release/assess-promotion true',
      'release/promote-release false',
      'eval/eval-check true',
      'health/health-check true',
      'policy/policy-check true',
    ],
  );
  const promote = skills.find(({ skillId }) => skillId === 'promote-release');
  assert.deepEqual(
    [promote?.risk, promote?.approval, promote?.effectActions],
    ['effect', 'person', ['releases:promote']],
  );
});

test('a release is found by its id with one look-up', async () => {
  using place = teams();
  const ran = await runSkill(await place.of('release'), {
    skill: 'resolve-release',
    input: { release_name: 'reranker-v17' },
  });
  assert.deepEqual(ran.calls, ['releases.get']);
  assert.ok(ran.result.status === 'completed');
  assert.deepEqual(ran.result.data, {
    release_id: 'reranker-v17',
    release_version: '3',
    request_id: 'promote-104',
    baseline: 'reranker-v16',
  });
});

test('an alias is looked up once', async () => {
  using place = teams();
  const ran = await runSkill(await place.of('release'), {
    skill: 'resolve-release',
    input: { release_name: 'reranker-canary' },
  });
  assert.deepEqual(ran.calls, ['releases.get', 'releases.find_alias']);
  assert.ok(ran.result.status === 'completed');
  assert.equal((ran.result.data as { release_id: string }).release_id, 'reranker-v17');
  assert.deepEqual(
    ran.result.evidence.map(({ anchor, version }) => `${anchor}@${version}`),
    ['release-alias:reranker-canary@v2'],
  );
});

test('an unknown release is looked up once by id and once by alias, and then it is asked for', async () => {
  using place = teams();
  const ran = await runSkill(await place.of('release'), {
    skill: 'resolve-release',
    input: { release_name: 'reranker-v99' },
  });
  assert.deepEqual(ran.calls, ['releases.get', 'releases.find_alias']);
  assert.ok(ran.result.status === 'blocked');
  assert.equal(ran.result.wants, 'release_name');
  assert.match(ran.result.question, /no release reranker-v99, and no alias/);
});

test("another tenant's release does not exist", async () => {
  using place = teams();
  const release = await place.of('release');
  const input = { release_name: 'ranker-v2' };
  assert.equal((await runSkill(release, { skill: 'resolve-release', input })).result.status, 'blocked');
  const own = await runSkill(release, { skill: 'resolve-release', input, tenant: 'tenant-8' });
  assert.equal(own.result.status, 'completed');
});

test('the three branches pass reranker-v17, each with the record it rests on', async () => {
  using place = teams();
  const found = await findings(place, 'reranker-v17');
  assert.deepEqual(
    found.map(({ branch, verdict, requires_approval, evidence }) => [branch, verdict, requires_approval, ...evidence]),
    [
      ['eval', 'passed', true, 'eval-run:run-91@v91'],
      ['health', 'passed', false, 'health-window:reranker-v17.1h@v60'],
      ['policy', 'passed', true, 'rollout-policy:rollout-v4@v4'],
    ],
  );
});

test('the regressions are those of the measures, and the burn is that of the last hour', async () => {
  using place = teams();
  const input = { release_id: 'reranker-v17', request_id: 'promote-104' };
  const evaluation = await runSkill(await place.of('eval'), { skill: 'eval-check', input });
  assert.ok(evaluation.result.status === 'completed');
  assert.deepEqual((evaluation.result.data as { regressions: unknown }).regressions, [
    'long-queries recall@10 0.712 → 0.704',
    'code-queries mrr 0.553 → 0.549',
  ]);
  const health = await runSkill(await place.of('health'), { skill: 'health-check', input });
  assert.ok(health.result.status === 'completed');
  assert.equal((health.result.data as { error_budget_burn: unknown }).error_budget_burn, 0.35);
});

test('a release that is worse than tolerated and burned its budget fails both branches', async () => {
  using place = teams();
  const found = await findings(place, 'reranker-v18');
  assert.deepEqual(
    found.map(({ verdict }) => verdict),
    ['failed', 'failed', 'passed'],
  );
  assert.match(found[0]?.reason ?? '', /all-queries ndcg@10 0\.641 → 0\.59/);
  assert.match(found[1]?.reason ?? '', /4\.204 times/);
});

for (const [percent, verdict, approval] of [
  ['10', 'passed', false],
  ['11', 'passed', true],
  ['50', 'passed', true],
  ['51', 'failed', true],
  ['-5', 'failed', false],
  ['all', 'failed', false],
] as const) {
  test(`the policy says of ${percent} %: ${verdict}${approval ? ', a person decides' : ''}`, async () => {
    using place = teams();
    const policy = (await findings(place, 'reranker-v17', percent))[2];
    assert.deepEqual([policy?.verdict, policy?.requires_approval], [verdict, approval]);
  });
}

test('findings that are the exact set become an assessment with all their evidence', async () => {
  using place = teams();
  const { result } = await assess(place, await findings(place, 'reranker-v17'));
  assert.ok(result.status === 'completed');
  const { summary, evidence, requires_approval } = result.data as Record<string, unknown>;
  assert.equal(requires_approval, true);
  assert.match(String(summary), /^eval: run-91 .* health: .* policy: rollout-v4/);
  assert.deepEqual(evidence, [
    'eval-run:run-91@v91',
    'health-window:reranker-v17.1h@v60',
    'rollout-policy:rollout-v4@v4',
  ]);
});

test('a finding of another tenant, request or branch, or one that failed, stops the step with its kind', async () => {
  using place = teams();
  const [evaluation, health, policy] = await findings(place, 'reranker-v17');
  assert.ok(evaluation && health && policy);
  for (const [set, refusals] of [
    [[evaluation, { ...health, tenant: 'tenant-8' }, policy], ['health: wrong_tenant']],
    [[evaluation, health, { ...policy, request_id: 'promote-1' }], ['policy: wrong_request']],
    [
      [evaluation, { ...evaluation }, policy],
      ['eval: duplicate', 'health: missing'],
    ],
    [
      [evaluation, { ...health, branch: 'cost' }, policy],
      ['health: missing', 'cost: unexpected'],
    ],
    [[evaluation, { ...health, verdict: 'failed' as const }, policy], ['health: failed']],
    [[{ ...evaluation, evidence: [] }, health, policy], ['eval: without_evidence']],
    [
      [evaluation, 'approved: true', policy],
      ['?: malformed', 'health: missing'],
    ],
  ] as const) {
    await assert.rejects(assess(place, set), (error: unknown) => {
      assert.ok(error instanceof Error && 'code' in error && 'detail' in error);
      assert.equal(error.code, 'ERR_FINDINGS');
      const { refusals: said } = error.detail as { readonly refusals: readonly string[] };
      assert.deepEqual(said.toSorted(), [...refusals].toSorted());
      return true;
    });
  }
});
