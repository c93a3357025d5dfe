/**
 * A LangGraph graph whose tool is governed: the tool and the graph stay as they were, ten lines are new.
 * Run it: node --conditions=@caseops/source examples/langgraph.ts
 */
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { governedTool, type GovernedTool } from 'caseops';
import { z } from 'zod';

const CLAIMS: Readonly<Record<string, object>> = {
  'C-102': { id: 'C-102', version: 'v17', tenant: 't9', status: 'pending_documents' },
  'C-777': { id: 'C-777', version: 'v3', tenant: 't8', status: 'open' },
};

/** The tool as the program has it: it would give anybody any claim. */
export const getClaim = tool(async ({ claim_id }) => CLAIMS[claim_id] ?? null, {
  name: 'get_claim',
  description: 'Reads a claim.',
  schema: z.object({ claim_id: z.string() }),
});

export const openGoverned = (actions = ['claims:read']): GovernedTool<typeof getClaim> =>
  // governed: these ten lines
  governedTool(getClaim, {
    grant: { as: 'requester@t9', actions },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 2 },
    prohibitedActions: ['notify:send'],
    actions,
    resource: { type: 'claim', argument: 'claim_id' },
    evidence: { source: 'claims-db', anchorType: 'claim' },
  });
// governed: until here

/** A graph without a model: a node asks for each claim in turn, the ToolNode calls. */
export async function askGraph(
  claimTool: typeof getClaim,
  claimIds: readonly string[],
): Promise<readonly ToolMessage[]> {
  const ask = (): { messages: AIMessage[] } => ({
    messages: [
      new AIMessage({
        content: '',
        tool_calls: claimIds.map((claim_id, index) => ({ id: `t${index}`, name: claimTool.name, args: { claim_id } })),
      }),
    ],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ask', ask)
    .addNode('tools', new ToolNode([claimTool]))
    .addEdge(START, 'ask')
    .addEdge('ask', 'tools')
    .addEdge('tools', END)
    .compile();
  const { messages } = await graph.invoke({ messages: [] });
  return messages.filter((message) => message instanceof ToolMessage);
}

if (import.meta.main) {
  const governed = openGoverned();
  for (const message of await askGraph(governed.tool, ['C-102', 'C-777'])) console.log(message.status, message.content);
  console.log(
    'evidence',
    governed.evidence().map(({ ref }) => ref),
  );
  await governed.close();
  console.log(
    'log',
    (await governed.trace()).map(({ kind }) => kind),
  );
}
