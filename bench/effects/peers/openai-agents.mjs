// OpenAI Agents SDK: a tool that needs approval; the run's state is serialised, approved and resumed, as its documentation shows.
import { Agent, Runner, RunState, setTracingDisabled, tool, Usage } from '@openai/agents-core';
import { z } from 'zod';
import { postNotice } from '../owner.mjs';

setTracingDisabled(true);
const NOTICE = { to: 'm42', text: 'We need a document.' };

/** A model that asks for the tool once and then says that it is done. */
function scriptedModel() {
  let turn = 0;
  return {
    rewind: () => (turn = 1),
    async getResponse() {
      turn += 1;
      const output =
        turn === 1
          ? [
              {
                type: 'function_call',
                callId: 'call-1',
                name: 'send_notice',
                arguments: JSON.stringify(NOTICE),
                status: 'completed',
              },
            ]
          : [
              {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'done' }],
              },
            ];
      return { usage: new Usage(), responseId: `r${turn}`, output };
    },
    async *getStreamedResponse() {},
  };
}

async function waiting(owner) {
  const sendNotice = tool({
    name: 'send_notice',
    description: 'Sends a notice.',
    parameters: z.object({ to: z.string(), text: z.string() }),
    needsApproval: true,
    execute: (notice) => postNotice(owner.url, notice),
  });
  const model = scriptedModel();
  const agent = new Agent({ name: 'notices', instructions: 'Send the notice.', model, tools: [sendNotice] });
  const runner = new Runner({ modelProvider: { getModel: async () => model }, tracingDisabled: true });
  const result = await runner.run(agent, 'Send the notice to m42.');
  const saved = result.state.toString();
  const resume = async (text) => {
    const state = await RunState.fromString(agent, text);
    for (const item of state.getInterruptions()) state.approve(item);
    model.rewind();
    return runner.run(agent, state);
  };
  return { saved, resume };
}

export const name = 'OpenAI Agents SDK';
export const packageName = '@openai/agents-core';

export const stories = {
  async lostAcknowledgement(owner) {
    const { saved, resume } = await waiting(owner);
    owner.dropNextReplies(1);
    await resume(saved).catch(() => undefined);
    await resume(saved).catch(() => undefined);
    return 'a tool error is told to the model; resuming the saved state after it sends again';
  },
  async approvedTwice(owner) {
    const { saved, resume } = await waiting(owner);
    await resume(saved);
    await resume(saved);
    return 'the saved state can be resumed any number of times';
  },
  async versionMoved(owner) {
    const { saved, resume } = await waiting(owner);
    owner.moveVersion();
    await resume(saved);
    return 'an approval carries no version of what was approved';
  },
  async editedAfterApproval(owner) {
    const { saved, resume } = await waiting(owner);
    const edited = saved.replaceAll('We need a document.', 'Send us money.');
    await resume(edited);
    return 'the saved state is not signed; keeping it safe is the application’s job';
  },
};
