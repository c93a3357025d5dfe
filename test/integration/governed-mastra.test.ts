/** The governed tool on the real Mastra package; examples/mastra.ts is what a user writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTool } from '@mastra/core/tools';
import { createGoverned } from 'caseops';
import { z } from 'zod';
import { getClaim, openGoverned, runWorkflow } from '../../examples/mastra.ts';
import { governedChecks, refs, refuses } from './governed-checks.ts';

process.env['MASTRA_TELEMETRY_DISABLED'] = '1';

const C102 = { claims: [{ id: 'C-102', version: 'v17', tenant: 't9', status: 'pending_documents' }] };

governedChecks('mastra', {
  open: openGoverned,
  call: async (one, args) => one.execute?.(args as { claim_id: string }, {} as never),
  plain: getClaim,
  c102: C102,
});

test('a workflow step goes on with the output, and fails with the code of the refusal', async () => {
  const governed = openGoverned();
  const { tool: claim } = governed;
  assert.deepEqual(await runWorkflow(claim, 'C-102'), C102);
  const failed = await runWorkflow(claim, 'C-777');
  assert.equal((failed as { code?: string }).code, 'ERR_TOOL_OUTPUT_TENANT');
  assert.deepEqual(refs(governed), ['claim:C-102@v17']);
  assert.match(JSON.stringify(await runWorkflow(getClaim, 'C-777')), /t8/);
  await governed.close();
});

test("a result that breaks the tool's own schema, which Mastra returns as a value, is a refusal", async () => {
  const broken = createTool({
    id: 'broken',
    description: 'Promises a number.',
    inputSchema: z.object({ claim_id: z.string() }),
    outputSchema: z.object({ id: z.string(), count: z.number() }),
    execute: async () => ({ id: 'C-102', count: 'three' }) as never,
  });
  await using governed = createGoverned({
    grant: { as: 'requester@t9', actions: ['claims:read'] },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 1 },
  });
  const claim = governed.tool(broken, {
    actions: ['claims:read'],
    resource: { type: 'claim', argument: 'claim_id' },
    evidence: {
      source: 'claims-db',
      anchorType: 'claim',
      versionPointer: '/count',
      soleTenant: 't9',
    },
  });
  await refuses((async () => claim.execute?.({ claim_id: 'C-102' }, {} as never))(), 'ERR_TOOL_OUTPUT_SCHEMA');
  assert.match(JSON.stringify(await broken.execute?.({ claim_id: 'C-102' }, {} as never)), /validationErrors/);
});
