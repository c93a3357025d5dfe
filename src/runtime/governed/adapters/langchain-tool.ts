/**
 * Tools of LangChain and LangGraph (`tool(fn, { name, schema })`): instances that are entered at `invoke(input, config)`, with plain
 * arguments or with a tool call, which gives a ToolMessage. The older doors of the class lead to the same place.
 */
import { copyWith, member, signalMember, textMember, type Govern, type ToolAdapter } from './adapter.ts';

type Invoke = (input: unknown, config?: object) => Promise<unknown>;

export const langchainAdapter: ToolAdapter = {
  read(tool) {
    const schema = member(tool, 'schema');
    if (typeof member(tool, 'invoke') !== 'function' || schema === undefined) return undefined;
    return {
      framework: 'langchain',
      name: textMember(tool, 'name'),
      description: textMember(tool, 'description'),
      inputSchema: schema,
      outputSchema: undefined,
    };
  },
  govern(tool, govern) {
    const invoke = governedInvoke(tool, govern);
    return copyWith(tool, {
      invoke,
      call: invoke,
      func: (input: unknown, _manager: unknown, config?: object) => invoke(input, config),
      _call: (input: unknown, _manager: unknown, config?: object) => invoke(input, config),
    });
  },
};

function governedInvoke(tool: object, govern: Govern): Invoke {
  const inner = member(tool, 'invoke') as Invoke;
  return (input, config) => {
    const isCall = member(input, 'type') === 'tool_call';
    return govern({
      arguments: isCall ? member(input, 'args') : asArguments(input),
      signal: signalMember(config, 'signal'),
      run: (args, signal) =>
        inner.call(tool, isCall ? { ...(input as object), args } : asInput(input, args), { ...config, signal }),
      observed,
      steers: (thrown) => member(thrown, 'is_bubble_up') === true,
    });
  };
}

/** A tool of one text takes it bare. */
function asArguments(input: unknown): unknown {
  return typeof input === 'string' ? { input } : input;
}

function asInput(input: unknown, args: Readonly<Record<string, unknown>>): unknown {
  return typeof input === 'string' ? args['input'] : args;
}

/** A ToolMessage holds what the tool returned as its artifact, or else as its content. */
function observed(returned: unknown): unknown {
  if (typeof member(returned, 'tool_call_id') !== 'string') return returned;
  return member(returned, 'artifact') ?? member(returned, 'content');
}
