/** The governed tool on the real AI SDK; examples/ai-sdk.ts is what a user writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonSchema, tool } from 'ai';
import { createGoverned } from 'caseops';
import { askModel, getClaim, openGoverned } from '../../examples/ai-sdk.ts';
import { governedChecks, refs, refuses } from './governed-checks.ts';

const C102 = { id: 'C-102', version: 'v17', tenant: 't9', status: 'pending_documents' };
const OPTIONS = { toolCallId: 't1', messages: [], context: {} };

governedChecks('ai-sdk', {
  open: openGoverned,
  call: async (one, args) => one.execute?.(args as { claim_id: string }, OPTIONS as never),
  plain: getClaim,
  c102: C102,
});

test('generateText goes on with the output, and hands the refusal to the model as a tool error', async () => {
  const governed = openGoverned();
  const { tool: claim } = governed;
  const [lawful, foreign] = await askModel(claim, ['C-102', 'C-777']);
  assert.deepEqual(lawful, { output: C102 });
  assert.ok(foreign !== undefined && 'error' in foreign);
  await refuses(Promise.reject(foreign.error), 'ERR_TOOL_OUTPUT_TENANT');
  assert.deepEqual(refs(governed), ['claim:C-102@v17']);
  assert.match(JSON.stringify(await askModel(getClaim, ['C-777'])), /t8/);
  await governed.close();
});

test('generateText that calls three at once is held to a budget of two', async () => {
  const governed = openGoverned();
  const { tool: claim } = governed;
  const results = await askModel(claim, ['C-102', 'C-102', 'C-102']);
  const errors = results.filter((result) => 'error' in result);
  assert.equal(errors.length, 1);
  await governed.close();
});

const EVIDENCE = { source: 'claims-db', anchorType: 'claim' };

test('a tool with a JSON Schema that yields its result step by step is governed by its last value', async () => {
  const streaming = tool({
    inputSchema: jsonSchema<{ claimId: string }>({
      type: 'object',
      properties: { claimId: { type: 'string' } },
      required: ['claimId'],
    }),
    async *execute() {
      yield { loading: true };
      yield C102;
    },
  });
  await using governed = createGoverned({
    grant: { as: 'requester@t9', actions: ['claims:read'] },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 2 },
  });
  const claim = governed.tool(streaming, {
    name: 'streaming',
    actions: ['claims:read'],
    resource: { type: 'claim', argument: 'claimId' },
    evidence: EVIDENCE,
  });
  const call = async (args: object): Promise<unknown> => claim.execute?.(args as { claimId: string }, OPTIONS);
  assert.deepEqual(await call({ claimId: 'C-102' }), C102);
  await refuses(call({ claimId: 'C-102', more: 1 }), 'ERR_SCHEMA');
  await refuses(call({ claimId: 1 }), 'ERR_SCHEMA');
  assert.deepEqual(refs(governed), ['claim:C-102@v17']);
});
