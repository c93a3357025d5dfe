/**
 * An AI SDK program whose tool is governed: the tool and the call of the model stay as they were, ten lines are new. The model is the
 * SDK's own mock, so that nothing leaves the machine.
 * Run it: node --conditions=@caseops/source examples/ai-sdk.ts
 */
import { generateText, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { governedTool, type GovernedTool } from 'caseops';
import { z } from 'zod';

const CLAIMS: Readonly<Record<string, object>> = {
  'C-102': { id: 'C-102', version: 'v17', tenant: 't9', status: 'pending_documents' },
  'C-777': { id: 'C-777', version: 'v3', tenant: 't8', status: 'open' },
};

/** The tool as the program has it: it would give anybody any claim. */
export const getClaim = tool({
  description: 'Reads a claim.',
  inputSchema: z.object({ claim_id: z.string() }),
  execute: async ({ claim_id }) => CLAIMS[claim_id] ?? null,
});

export const openGoverned = (actions = ['claims:read']): GovernedTool<typeof getClaim> =>
  // governed: these ten lines
  governedTool(getClaim, {
    grant: { as: 'requester@t9', actions },
    purpose: 'claim_investigation',
    budget: { toolCallCountMax: 2 },
    prohibitedActions: ['notify:send'],
    name: 'get-claim',
    actions,
    resource: { type: 'claim', argument: 'claim_id' },
    evidence: { source: 'claims-db', anchorType: 'claim' },
  });
// governed: until here

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that calls the tool once per claim, all at once, and then says that it is done. */
function modelAsking(claimIds: readonly string[]): MockLanguageModelV4 {
  let turn = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      turn += 1;
      if (turn > 1)
        return {
          finishReason: { unified: 'stop', raw: 'stop' },
          usage: USAGE,
          warnings: [],
          content: [{ type: 'text', text: 'done' }],
        };
      return {
        finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
        usage: USAGE,
        warnings: [],
        content: claimIds.map((claim_id, index) => ({
          type: 'tool-call' as const,
          toolCallId: `t${index}`,
          toolName: 'getClaim',
          input: JSON.stringify({ claim_id }),
        })),
      };
    },
  });
}

/** The tool's output, or the error that the SDK hands back to the model. */
type CallResult = { readonly output: unknown } | { readonly error: unknown };

/** What each call of the model gave. */
export async function askModel(
  claimTool: typeof getClaim,
  claimIds: readonly string[],
): Promise<readonly CallResult[]> {
  const { steps } = await generateText({
    model: modelAsking(claimIds),
    tools: { getClaim: claimTool },
    prompt: 'What is missing?',
    stopWhen: stepCountIs(3),
  });
  const results: CallResult[] = [];
  for (const part of steps.flatMap(({ content }) => content)) {
    if (part.type === 'tool-result') results.push({ output: part.output });
    if (part.type === 'tool-error') results.push({ error: part.error });
  }
  return results;
}

if (import.meta.main) {
  const governed = openGoverned();
  for (const result of await askModel(governed.tool, ['C-102', 'C-777'])) console.log(result);
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
