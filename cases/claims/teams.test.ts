import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimsCase } from './case.ts';

const now = (): string => '2026-07-23T09:00:00.000Z';
const caller = (tenant: string) => ({
  tenant,
  subject: `requester@${tenant}`,
  purpose: 'claim_investigation',
  leaseId: 'lse_1',
  signal: new AbortController().signal,
});

async function load(name: string, directory: string) {
  const factory = await claimsCase.teams[name]?.();
  assert.ok(factory, `the case has no team ${name}`);
  return factory({ directory: join(directory, name), now });
}

test('four teams are defined, and sending is a contract that nobody can run', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'claims-'));
  const skills = [];
  for (const name of ['member', 'claims', 'knowledge', 'notification'])
    skills.push(...(await load(name, directory)).skills);
  assert.deepEqual(
    skills.map((skill) => `${skill.team}/${skill.skillId} ${skill.available}`),
    [
      'member/resolve-member true',
      'claims/claim-status true',
      'knowledge/policy-guidance true',
      'notification/draft-notice true',
      'notification/send-notice false',
    ],
  );
  const send = skills.at(-1);
  assert.deepEqual([send?.risk, send?.approval, send?.effectActions], ['effect', 'person', ['notify:send']]);
  rmSync(directory, { recursive: true });
});

test("another tenant's claim does not exist for a tool", async () => {
  const directory = mkdtempSync(join(tmpdir(), 'claims-'));
  const team = await load('claims', directory);
  const status = team.mcpServers[0]?.tools.find((tool) => tool.contract.tool === 'claims.get_status');
  assert.ok(status);
  assert.deepEqual(await status.invoke({ claim_id: 'C-201' }, caller('t9')), []);
  assert.deepEqual(await status.invoke({ claim_id: 'C-999' }, caller('t9')), []);
  const [own] = await status.invoke({ claim_id: 'C-201' }, caller('t8'));
  assert.equal(own?.version, 'v2');
  const [known] = await status.invoke({ claim_id: 'C-102' }, caller('t9'));
  assert.deepEqual([known?.id, known?.version, known?.tenant], ['C-102', 'v17', 't9']);
  rmSync(directory, { recursive: true });
});
