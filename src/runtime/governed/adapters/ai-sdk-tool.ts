/** Tools of the AI SDK (`tool({ inputSchema, execute })`): plain objects that the SDK enters at `execute(input, options)`. */
import { copyWith, lastOf, member, signalMember, textMember, type ToolAdapter } from './adapter.ts';

export const aiSdkAdapter: ToolAdapter = {
  read(tool) {
    const inputSchema = member(tool, 'inputSchema');
    if (typeof member(tool, 'execute') !== 'function' || inputSchema === undefined) return undefined;
    return {
      framework: 'ai-sdk',
      // The SDK names a tool by its place in `tools`; the program gives the name.
      name: textMember(tool, 'title'),
      description: textMember(tool, 'description'),
      inputSchema,
      outputSchema: member(tool, 'outputSchema'),
    };
  },
  govern(tool, govern) {
    const execute = member(tool, 'execute') as (input: unknown, options: object) => unknown;
    return copyWith(tool, {
      execute: (input: unknown, options: object | undefined) =>
        govern({
          arguments: input,
          signal: signalMember(options, 'abortSignal'),
          run: (args, abortSignal) => lastOf(execute.call(tool, args, { ...options, abortSignal })),
          observed: (returned) => returned,
          steers: () => false,
        }),
    });
  },
};
