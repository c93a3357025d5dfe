// LangGraph JS: a gate that interrupts, then a node that sends. Retry policy and checkpoints as its documentation shows them.
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { postNotice } from '../owner.mjs';

const NOTICE = { to: 'm42', text: 'We need a document.' };
const State = Annotation.Root({ notice: Annotation(), decision: Annotation() });

function graph(url, retryPolicy) {
  return new StateGraph(State)
    .addNode('gate', async (state) => ({ decision: interrupt({ ask: 'Send this notice?', notice: state.notice }) }))
    .addNode(
      'send',
      async (state) => ({ decision: await postNotice(url, state.notice) }),
      retryPolicy === undefined ? {} : { retryPolicy },
    )
    .addEdge(START, 'gate')
    .addEdge('gate', 'send')
    .addEdge('send', END)
    .compile({ checkpointer: new MemorySaver() });
}

export const name = 'LangGraph JS';
export const packageName = '@langchain/langgraph';

export const stories = {
  async lostAcknowledgement(owner) {
    const app = graph(owner.url, { maxAttempts: 3, initialInterval: 1, retryOn: () => true });
    const config = { configurable: { thread_id: 'lost' } };
    await app.invoke({ notice: NOTICE }, config);
    owner.dropNextReplies(1);
    await app.invoke(new Command({ resume: 'approved' }), config);
    return 'retryPolicy runs the node again; making it idempotent is documented as the application’s job';
  },
  async approvedTwice(owner) {
    const app = graph(owner.url);
    const config = { configurable: { thread_id: 'twice' } };
    await app.invoke({ notice: NOTICE }, config);
    const waiting = (await app.getState(config)).config;
    await app.invoke(new Command({ resume: 'approved' }), waiting);
    await app.invoke(new Command({ resume: 'approved' }), waiting);
    return 'resuming a saved checkpoint is its fork feature; what it sends again is the application’s to notice';
  },
  async versionMoved(owner) {
    const app = graph(owner.url);
    const config = { configurable: { thread_id: 'moved' } };
    await app.invoke({ notice: NOTICE }, config);
    owner.moveVersion();
    await app.invoke(new Command({ resume: 'approved' }), config);
    return 'an interrupt carries no version of what was approved';
  },
  async editedAfterApproval(owner) {
    const app = graph(owner.url);
    const config = { configurable: { thread_id: 'edited' } };
    await app.invoke({ notice: NOTICE }, config);
    await app.updateState(config, { notice: { ...NOTICE, text: 'Send us money.' } });
    await app.invoke(new Command({ resume: 'approved' }), config);
    return 'updateState changes what runs after the question was asked; documented as a feature';
  },
};
