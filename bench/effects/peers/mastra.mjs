// Mastra: a workflow whose step suspends for a decision and a step that sends, with its own step retries.
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';
import { postNotice } from '../owner.mjs';

const NOTICE = { to: 'm42', text: 'We need a document.' };
const notice = z.object({ to: z.string(), text: z.string() });

function workflow(url, retries) {
  const gate = createStep({
    id: 'gate',
    inputSchema: notice,
    outputSchema: notice,
    resumeSchema: z.object({ approved: z.boolean() }),
    suspendSchema: z.object({ ask: z.string() }),
    execute: async ({ inputData, resumeData, suspend }) =>
      resumeData?.approved === true ? inputData : suspend({ ask: 'Send this notice?' }),
  });
  const send = createStep({
    id: 'send',
    inputSchema: notice,
    outputSchema: z.any(),
    retries,
    execute: async ({ inputData }) => postNotice(url, inputData),
  });
  const made = createWorkflow({ id: 'notice', inputSchema: notice, outputSchema: z.any() })
    .then(gate)
    .then(send)
    .commit();
  return new Mastra({ workflows: { notice: made }, storage: new InMemoryStore(), logger: false }).getWorkflow('notice');
}

export const name = 'Mastra';
export const packageName = '@mastra/core';

export const stories = {
  async lostAcknowledgement(owner) {
    const run = await workflow(owner.url, 2).createRun();
    await run.start({ inputData: NOTICE });
    owner.dropNextReplies(1);
    await run.resume({ step: 'gate', resumeData: { approved: true } });
    return 'step retries run execute again; idempotency is the step’s own';
  },
  async approvedTwice(owner) {
    const flow = workflow(owner.url, 0);
    const run = await flow.createRun();
    await run.start({ inputData: NOTICE });
    const both = await Promise.allSettled([
      run.resume({ step: 'gate', resumeData: { approved: true } }),
      (await flow.createRun({ runId: run.runId })).resume({ step: 'gate', resumeData: { approved: true } }),
    ]);
    return `two resumes at once: ${both.map((one) => (one.status === 'fulfilled' ? one.value.status : 'refused')).join(', ')}`;
  },
  async versionMoved(owner) {
    const run = await workflow(owner.url, 0).createRun();
    await run.start({ inputData: NOTICE });
    owner.moveVersion();
    await run.resume({ step: 'gate', resumeData: { approved: true } });
    return 'a suspend carries no version of what was approved';
  },
  async editedAfterApproval() {
    return undefined;
  },
};
