import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { z } from 'zod';
import { governedTool } from './governed-tool.ts';
import { systemClock } from './system-clock.ts';

const OPTIONS = {
  grant: { as: 'requester@t9', actions: ['claims:read'] },
  purpose: 'claim_investigation',
  budget: { toolCallCountMax: 1 },
  name: 'get-claim',
  actions: ['claims:read'],
  resource: { type: 'claim', argument: 'claim_id' },
  evidence: { source: 'claims-db', anchorType: 'claim' },
} as const;

const getClaim = {
  description: 'Reads a claim.',
  inputSchema: z.object({ claim_id: z.string() }),
  execute: async ({ claim_id }: { claim_id: string }) => ({ id: claim_id, version: 'v17', tenant: 't9' }),
};

test('one tool is governed in one call: leased, debited, evidenced, and closed with its session', async () => {
  const governed = governedTool(getClaim, OPTIONS);
  await governed.tool.execute({ claim_id: 'C-102' });
  await assert.rejects(governed.tool.execute({ claim_id: 'C-102' }), { code: 'ERR_BUDGET' });
  assert.deepEqual(
    governed.evidence().map(({ ref }) => ref),
    ['claim:C-102@v17'],
  );
  await governed[Symbol.asyncDispose]();
  const kinds = (await governed.trace()).map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(2), ['call.permitted', 'call.settled', 'call.refused', 'run.ended']);
});

test('a tool whose shape is not known is refused, and the session it was meant for leaves no run behind', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-governed-'));
  try {
    assert.throws(
      () => governedTool({ shape: 'unknown' }, { ...OPTIONS, directory }),
      (error: unknown) => error instanceof CaseOpsError && error.code === 'ERR_CONFIG',
    );
    await using store = openSqliteStore({ path: join(directory, 'governed.db'), clock: systemClock });
    assert.deepEqual(await store.runs({ limit: 10 }), []);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
