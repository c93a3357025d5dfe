/** The governed tool on the real packages of LangChain and LangGraph; examples/langgraph.ts is what a user writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { interrupt, MemorySaver, Command, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createGoverned } from 'caseops';
import { z } from 'zod';
import { askGraph, getClaim, openGoverned } from '../../examples/langgraph.ts';
import { governedChecks, refs, refuses } from './governed-checks.ts';

const C102 = { id: 'C-102', version: 'v17', tenant: 't9', status: 'pending_documents' };

governedChecks('langgraph', {
  open: openGoverned,
  call: (one, args) => one.invoke(args as { claim_id: string }),
  plain: getClaim,
  c102: C102,
});

test('a ToolNode gets a ToolMessage, and the refusal as the error that the model sees', async () => {
  const governed = openGoverned();
  const { tool: claim } = governed;
  const [lawful, foreign] = await askGraph(claim, ['C-102', 'C-777']);
  assert.equal(lawful?.status, 'success');
  assert.deepEqual(JSON.parse(lawful.text), C102);
  assert.equal(foreign?.status, 'error');
  assert.match(foreign.text, /is not of tenant t9/);
  assert.doesNotMatch(foreign.text, /open|t8/);
  assert.deepEqual(refs(governed), ['claim:C-102@v17']);
  const [ungoverned] = await askGraph(getClaim, ['C-777']);
  assert.match(ungoverned?.text ?? '', /t8/);
  await governed.close();
});

test('a ToolNode that calls three at once is held to a budget of two', async () => {
  const governed = openGoverned();
  const { tool: claim } = governed;
  const messages = await askGraph(claim, ['C-102', 'C-102', 'C-102']);
  assert.equal(messages.filter(({ status }) => status === 'error').length, 1);
  await governed.close();
});

test('every door of the class is governed, also the older ones', async () => {
  const governed = openGoverned();
  const { tool: claim } = governed;
  const foreign = { claim_id: 'C-777' };
  await refuses(claim.call(foreign), 'ERR_TOOL_OUTPUT_TENANT');
  await refuses(claim.func(foreign, undefined, {} as never) as Promise<unknown>, 'ERR_TOOL_OUTPUT_TENANT');
  for (const door of [claim.batch([foreign]), claim.stream(foreign), claim.pipe(String).invoke(foreign)])
    await refuses(door, 'ERR_BUDGET');
  await governed.close();
});

test('a tool with content and artifact is read by its artifact', async () => {
  const both = tool(async () => ['a claim', C102], {
    name: 'both',
    description: 'Content for the model, artifact for the program.',
    schema: z.object({ claim_id: z.string() }),
    responseFormat: 'content_and_artifact',
  });
  await using governed = createGoverned({
    grant: { as: 'requester@t9', actions: ['claims:read'] },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 1 },
  });
  const claim = governed.tool(both, {
    actions: ['claims:read'],
    resource: { type: 'claim', argument: 'claim_id' },
    evidence: { source: 'claims-db', anchorType: 'claim' },
  });
  const message: unknown = await claim.invoke({
    type: 'tool_call',
    id: 't1',
    name: 'both',
    args: { claim_id: 'C-102' },
  });
  assert.ok(message instanceof ToolMessage);
  assert.equal(message.content, 'a claim');
  assert.deepEqual(refs(governed), ['claim:C-102@v17']);
});

test("an interrupt in a tool stays LangGraph's own, and the graph goes on when it is resumed", async () => {
  const asking = tool(async ({ claim_id }) => ({ ...C102, id: claim_id, said: interrupt<string, string>('May I?') }), {
    name: 'asking',
    description: 'Asks before it reads.',
    schema: z.object({ claim_id: z.string() }),
  });
  await using governed = createGoverned({
    grant: { as: 'requester@t9', actions: ['claims:read'] },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 2 },
  });
  const claim = governed.tool(asking, {
    actions: ['claims:read'],
    resource: { type: 'claim', argument: 'claim_id' },
    evidence: { source: 'claims-db', anchorType: 'claim' },
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('read', async (_state, config) => {
      const record: { said: string } = await claim.invoke({ claim_id: 'C-102' }, config);
      return { messages: [record.said] };
    })
    .addEdge(START, 'read')
    .compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: '1' } };
  await graph.invoke({ messages: [] }, config);
  assert.deepEqual((await graph.getState(config)).next, ['read']);
  const { messages } = await graph.invoke(new Command({ resume: 'yes' }), config);
  assert.equal(messages.at(-1)?.content, 'yes');
  assert.deepEqual(refs(governed), ['claim:C-102@v17']);
});
