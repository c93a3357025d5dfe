/** The governed effect on the real packages of LangChain, LangGraph, the AI SDK and Mastra. */
import { tool as langchainTool } from '@langchain/core/tools';
import { createTool } from '@mastra/core/tools';
import { tool as aiTool } from 'ai';
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { governedEffect } from 'caseops';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { approve, governedEffectChecks, openOutbox } from './governed-effect-checks.ts';

const schema = z.object({ claim_id: z.string(), key: z.string().optional() });

governedEffectChecks('langchain', {
  toolFor: (outbox) =>
    langchainTool((args) => outbox.send(args), { name: 'send_notice', description: 'Sends a notice.', schema }),
  call: (one, args) => one.invoke(args as z.infer<typeof schema>),
});

governedEffectChecks('ai-sdk', {
  toolFor: (outbox) =>
    aiTool({
      title: 'send-notice',
      description: 'Sends a notice.',
      inputSchema: schema,
      execute: (args) => outbox.send(args),
    }),
  call: async (one, args) =>
    one.execute?.(args as z.infer<typeof schema>, { toolCallId: 't1', messages: [], context: {} }),
});

governedEffectChecks('mastra', {
  toolFor: (outbox) =>
    createTool({
      id: 'send-notice',
      description: 'Sends a notice.',
      inputSchema: schema,
      outputSchema: z.object({ id: z.string() }),
      execute: (args) => outbox.send(args),
    }),
  call: async (one, args) => one.execute?.(args as z.infer<typeof schema>, {} as never),
});

test('a LangGraph checkpoint that is resumed twice sends once; ungoverned it sends twice', async () => {
  const outbox = openOutbox();
  const plain = langchainTool((args) => outbox.send(args), {
    name: 'send_notice',
    description: 'Sends a notice.',
    schema,
  });
  const directory = mkdtempSync(join(tmpdir(), 'governed-effect-'));
  await using effect = await governedEffect(plain, {
    directory,
    grant: { as: 'requester@t9', actions: ['notify:send'] },
    purpose: 'claim_notice',
    action: 'notify:send',
    resource: { type: 'claim', argument: 'claim_id' },
    keyArgument: 'key',
  });
  await resumeTwice(plain);
  assert.equal(outbox.sent.length, 2);
  const resumed = resumeTwice(effect.tool);
  await approve(effect);
  const [first, second] = await resumed;
  assert.equal(outbox.sent.length, 3);
  assert.deepEqual([first?.text, second?.text], ['{"id":"m-3"}', '{"id":"m-3"}']);
  rmSync(directory, { recursive: true });
});

/** What the tool gave each time that the same checkpoint was gone on from. */
async function resumeTwice(
  sending: ConstructorParameters<typeof ToolNode>[0][number],
): Promise<readonly ToolMessage[]> {
  const ask = new AIMessage({
    content: '',
    tool_calls: [{ id: 't1', name: 'send_notice', args: { claim_id: 'C-102' } }],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => {
      interrupt('Shall I?');
      return { messages: [ask] };
    })
    .addNode('tools', new ToolNode([sending]))
    .addEdge(START, 'ask')
    .addEdge('ask', 'tools')
    .compile({ checkpointer: new MemorySaver() });
  await graph.invoke({ messages: [] }, { configurable: { thread_id: '1' } });
  const { config } = await graph.getState({ configurable: { thread_id: '1' } });
  const results: ToolMessage[] = [];
  for (let round = 1; round <= 2; round++) {
    const { messages } = await graph.invoke(new Command({ resume: 'yes' }), config);
    const last = messages.at(-1);
    if (last instanceof ToolMessage) results.push(last);
  }
  return results;
}
