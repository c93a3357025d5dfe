// AI SDK: a tool under user approval; messages with the approval are sent back, with the SDK's own approval secret set.
import { generateText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { postNotice } from '../owner.mjs';

const NOTICE = { to: 'm42', text: 'We need a document.' };
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const SECRET = 'a-secret-of-at-least-thirty-two-characters';

const asking = () =>
  new MockLanguageModelV4({
    doGenerate: async () => ({
      finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
      usage,
      warnings: [],
      content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'sendNotice', input: JSON.stringify(NOTICE) }],
    }),
  });
const finishing = () =>
  new MockLanguageModelV4({
    doGenerate: async () => ({
      finishReason: { unified: 'stop', raw: 'stop' },
      usage,
      warnings: [],
      content: [{ type: 'text', text: 'done' }],
    }),
  });

async function waiting(owner) {
  const tools = {
    sendNotice: tool({
      inputSchema: z.object({ to: z.string(), text: z.string() }),
      execute: (notice) => postNotice(owner.url, notice),
    }),
  };
  const options = { tools, toolApproval: { sendNotice: 'user-approval' }, experimental_toolApprovalSecret: SECRET };
  const first = await generateText({
    model: asking(),
    ...options,
    messages: [{ role: 'user', content: 'Send the notice.' }],
  });
  const messages = [{ role: 'user', content: 'Send the notice.' }, ...first.response.messages];
  const request = messages
    .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    .find((part) => part.type === 'tool-approval-request');
  const approval = {
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId: request?.approvalId, approved: true }],
  };
  return {
    messages,
    resume: (history) => generateText({ model: finishing(), ...options, messages: [...history, approval] }),
  };
}

export const name = 'AI SDK';
export const packageName = 'ai';

export const stories = {
  async lostAcknowledgement(owner) {
    const { messages, resume } = await waiting(owner);
    owner.dropNextReplies(1);
    await resume(messages).catch(() => undefined);
    await resume(messages).catch(() => undefined);
    return 'a tool error becomes a result for the model; sending the same messages again sends the notice again';
  },
  async approvedTwice(owner) {
    const { messages, resume } = await waiting(owner);
    await resume(messages);
    await resume(messages);
    return 'messages are the application’s to keep; the same approval runs the tool again';
  },
  async versionMoved(owner) {
    const { messages, resume } = await waiting(owner);
    owner.moveVersion();
    await resume(messages);
    return 'an approval carries no version of what was approved';
  },
  async editedAfterApproval(owner) {
    const { messages, resume } = await waiting(owner);
    const edited = JSON.parse(JSON.stringify(messages).replaceAll('We need a document.', 'Send us money.'));
    try {
      await resume(edited);
      return 'edited arguments ran';
    } catch (error) {
      return `refused by the SDK’s approval secret (${error.name})`;
    }
  },
};
