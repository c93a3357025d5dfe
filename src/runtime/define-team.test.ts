import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { skillContract } from '#contracts/skill.ts';
import { toolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import type { PolicyRow } from '#ports/team-definition.ts';
import { z } from 'zod';
import { defineSkill } from './define-skill.ts';
import { defineTeam } from './define-team.ts';
import { defineTool, serveTool } from './define-tool.ts';
import { defineWorker } from './define-worker.ts';
import { mcpServer } from './mcp-server.ts';

const getClaim = defineTool({
  server: 'claims-db',
  name: 'get_claim',
  version: '1.0.0',
  description: 'One claim by its id.',
  input: z.object({ claim_id: z.string() }),
  record: z.object({ status: z.string(), missing: z.array(z.string()) }),
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'claim',
  actions: ['claims:read'],
  purposes: ['claim-support'],
});

const claimStatus = defineSkill({
  id: 'claim-status',
  version: '1.0.0',
  description: 'Why a claim is not completed.',
  input: z.object({ claim_id: z.string() }),
  artifact: z.object({ status: z.string(), missing: z.array(z.string()) }),
  requires: [{ name: 'claim_id', kind: 'claim_id' }],
  produces: [{ kind: 'claim_status', pointer: '' }],
  risk: 'read_only',
  actions: ['claims:read'],
  resources: [{ type: 'claim', input: 'claim_id' }],
  purposes: ['claim-support'],
  tools: [getClaim],
});

const worker = defineWorker(claimStatus, {
  name: 'status-reader',
  run: async ({ claim_id }, context) => {
    const [claim] = await context.call(getClaim, { claim_id });
    if (claim === undefined) return { status: 'no_data', evidence: [], missing: ['claim'] };
    return { status: 'completed', data: claim.record, evidence: [claim.evidence] };
  },
});

const served = serveTool(getClaim, ({ claim_id }) => [
  {
    id: claim_id,
    version: 'v17',
    tenant: 't9',
    observedAt: '2026-08-01T09:00:00Z',
    data: { status: 'open', missing: [] },
  },
]);

const row: PolicyRow = {
  actor: 'supervisor',
  action: 'claims:read',
  resourceType: 'claim',
  purpose: 'claim-support',
  tenants: ['t9'],
};

const claims = () => ({
  version: '1.0.0',
  description: 'Claims.',
  workers: [worker],
  mcpServers: [mcpServer('claims-db', { version: '1.0.0', tools: [served] })],
  policy: [row],
});

function findingsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    assert(error instanceof CaseOpsError);
    assert.equal(error.code, 'ERR_CONFIG');
    return z.array(z.string()).parse(error.detail['findings']);
  }
  return [];
}

test('a worker that forgets a field of its artifact does not compile', () => {
  defineWorker(claimStatus, {
    name: 'forgetful',
    // @ts-expect-error the artifact needs `missing` as well
    run: async () => ({ status: 'completed', data: { status: 'open' }, evidence: [] }),
  });
  defineSkill({
    ...optionsWithoutMapping(),
    // @ts-expect-error an input that the schema does not have
    requires: [{ name: 'claim', kind: 'claim_id' }],
    input: z.object({ claim_id: z.string().optional() }),
  });
});

test('a defined tool pins a digest over its whole contract and refuses what its schemas do not allow', () => {
  const { digest, ...rest } = getClaim.contract;
  assert.equal(digest, digestOf(rest));
  assert.ok(toolContract.safeParse(getClaim.contract).success);
  assert.deepEqual(getClaim.parseInput({ claim_id: 'C-102', tenant: 't9' }).ok, false);
  const record = getClaim.parseRecord({ status: 'open' });
  assert.deepEqual(record.ok ? [] : record.issues.map(({ pointer }) => pointer), ['/missing']);
});

test('a served tool names the bad argument instead of running its handler', async () => {
  const caller = {
    tenant: 't9',
    subject: 'requester@t9',
    purpose: 'claim-support',
    leaseId: 'lse_1',
    signal: new AbortController().signal,
  };
  await assert.rejects(served.invoke({ claim_id: 7 }, caller), { code: 'ERR_SCHEMA', message: /\/claim_id/ });
  assert.equal((await served.invoke({ claim_id: 'C-102' }, caller)).length, 1);
});

test('a skill has defaults from its tools, and its contract is the published one', () => {
  const contract = { ...claimStatus.contract, team: 'claims', available: true };
  assert.ok(skillContract.safeParse(contract).success);
  assert.deepEqual(contract.evidence, { anchorTypes: ['claim'], countMin: 1 });
  assert.deepEqual(contract.stepBudget, { toolCallCountMax: 2, modelTokenCountMax: 0, timeoutMs: 10_000 });
  assert.deepEqual(contract.datatypes, ['internal']);
  assert.equal(contract.toolContracts[0]?.digest, getClaim.contract.digest);
});

test('a required input that no requirement fills is refused', () => {
  assert.throws(() => defineSkill({ ...optionsWithoutMapping(), requires: [] }), {
    code: 'ERR_CONFIG',
    message: /claim_id/,
  });
});

test('a well formed team is available, and carries the digest of its policy', () => {
  const team = defineTeam('claims', claims());
  assert.deepEqual(
    team.skills.map(({ skillId, team: name, available }) => [skillId, name, available]),
    [['claim-status', 'claims', true]],
  );
  assert.equal(team.policyDigest, digestOf([row]));
});

test('a skill without worker is published and not available', () => {
  const send = defineSkill({ ...optionsWithoutMapping(), id: 'send-notice', risk: 'effect' });
  const team = defineTeam('claims', { ...claims(), contractsOnly: [send] });
  assert.equal(team.skills.find(({ skillId }) => skillId === 'send-notice')?.available, false);
});

test('a team with several faults lists all of them', () => {
  const findings = findingsOf(() =>
    defineTeam('claims', { ...claims(), workers: [worker, worker], mcpServers: [], policy: [] }),
  );
  assert.deepEqual(findings.map((finding) => finding.replace(/ of worker.*/u, '')).toSorted(), [
    'skill claim-status 1.0.0 is defined twice',
    'the policy has no row for action claims:read on claim of skill claim-status',
    'the policy has no row for action claims:read on claim of skill claim-status',
    'tool claims-db/get_claim',
    'tool claims-db/get_claim',
    'two workers are called status-reader',
  ]);
});

test('a tool whose lease could never be narrowed from the skill is refused', () => {
  const foreign = defineTool({
    server: 'claims-db',
    name: 'get_payout',
    version: '1.0.0',
    description: 'A payout.',
    input: z.object({ payout_id: z.string() }),
    record: z.object({ amount: z.number() }),
    resource: { type: 'payout', argument: 'payout_id' },
    source: 'claims-db',
    anchorType: 'payout',
    actions: ['payouts:read'],
    purposes: ['audit'],
    classification: 'secret',
  });
  const skill = defineSkill({ ...optionsWithoutMapping(), tools: [foreign], datatypes: ['internal'] });
  const reader = defineWorker(skill, {
    name: 'payouts',
    run: async () => ({ status: 'no_data', evidence: [], missing: [] }),
  });
  const server = mcpServer('claims-db', { version: '1.0.0', tools: [serveTool(foreign, () => [])] });
  const findings = findingsOf(() => defineTeam('claims', { ...claims(), workers: [reader], mcpServers: [server] }));
  assert.equal(findings.length, 5);
  for (const word of ['payouts:read', 'claim-support', 'secret', 'resource type payout', 'argument payout_id'])
    assert.ok(
      findings.some((finding) => finding.includes(word)),
      word,
    );
});

test('a server that serves a tool under another contract is refused', () => {
  const drifted = { ...served, contract: { ...served.contract, description: 'Something else.' } };
  const server = mcpServer('claims-db', { version: '1.0.0', tools: [drifted] });
  assert.match(findingsOf(() => defineTeam('claims', { ...claims(), mcpServers: [server] })).join(), /digest/u);
});

function optionsWithoutMapping() {
  return {
    id: 'other',
    version: '1.0.0',
    description: 'Another skill.',
    input: z.object({ claim_id: z.string() }),
    artifact: z.object({ status: z.string() }),
    requires: [{ name: 'claim_id', kind: 'claim_id' }],
    produces: [{ kind: 'other', pointer: '' }],
    risk: 'read_only',
    actions: ['claims:read'],
    resources: [{ type: 'claim', input: 'claim_id' }],
    purposes: ['claim-support'],
    tools: [],
  } as const;
}
