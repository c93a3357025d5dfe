/** plan → three side by side → join → signal → write on LangGraph JS with its Postgres checkpointer, durability `sync`. */
import { randomUUID } from 'node:crypto';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { serve } from './serve.mjs';

const State = Annotation.Root({
  done: Annotation({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});
const SIDE_BY_SIDE = ['a', 'b', 'c'];
const graph = new StateGraph(State);
for (const name of ['plan', ...SIDE_BY_SIDE, 'join', 'write']) graph.addNode(name, () => ({ done: [name] }));
graph.addNode('signal', () => ({ done: [interrupt('go on?')] }));
graph.addEdge(START, 'plan');
for (const name of SIDE_BY_SIDE) graph.addEdge('plan', name);
graph.addEdge(SIDE_BY_SIDE, 'join');
graph.addEdge('join', 'signal');
graph.addEdge('signal', 'write');
graph.addEdge('write', END);

const saver = PostgresSaver.fromConnString(process.argv[2]);
await saver.setup();
const app = graph.compile({ checkpointer: saver });

await serve(async () => {
  const config = { configurable: { thread_id: randomUUID() }, durability: 'sync' };
  await app.invoke({ done: [] }, config);
  const { done } = await app.invoke(new Command({ resume: 'signal' }), config);
  if (done.length !== 7) throw new Error(`A run ended after ${done.length} of 7 steps.`);
});
