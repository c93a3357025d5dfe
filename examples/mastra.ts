/**
 * A Mastra tool that is governed: the tool stays as it was, ten lines are new.
 * Run it: node --conditions=@caseops/source examples/mastra.ts
 */
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { governedTool, type GovernedTool } from 'caseops';
import { z } from 'zod';

const claimRecord = z.object({ id: z.string(), version: z.string(), tenant: z.string(), status: z.string() });

const CLAIMS: Readonly<Record<string, z.infer<typeof claimRecord>>> = {
  'C-102': { id: 'C-102', version: 'v17', tenant: 't9', status: 'pending_documents' },
  'C-777': { id: 'C-777', version: 'v3', tenant: 't8', status: 'open' },
};

/** The tool as the program has it: it would give anybody any claim. */
export const getClaim = createTool({
  id: 'get-claim',
  description: 'Reads a claim.',
  inputSchema: z.object({ claim_id: z.string() }),
  outputSchema: z.object({ claims: z.array(claimRecord) }),
  execute: async ({ claim_id }) => ({ claims: Object.values(CLAIMS).filter(({ id }) => id === claim_id) }),
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
    evidence: { source: 'claims-db', anchorType: 'claim', recordsPointer: '/claims' },
  });
// governed: until here

/** A workflow whose one step is the tool; Mastra calls it and reports how the step ended. */
export async function runWorkflow(claimTool: typeof getClaim, claim_id: string): Promise<unknown> {
  const step = createStep(claimTool);
  const { inputSchema, outputSchema } = step;
  const workflow = createWorkflow({ id: 'read-claim', inputSchema, outputSchema }).then(step).commit();
  const run = await workflow.createRun();
  const result = await run.start({ inputData: { claim_id } });
  return result.status === 'success' ? result.result : result.status === 'failed' ? result.error : result.status;
}

if (import.meta.main) {
  const governed = openGoverned();
  for (const claimId of ['C-102', 'C-777']) console.log(await runWorkflow(governed.tool, claimId));
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
