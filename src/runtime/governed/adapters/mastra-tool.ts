/**
 * Tools of Mastra (`createTool({ id, inputSchema, execute })`): instances that are entered at `execute(input, context)`. Mastra returns
 * a failed validation as a value `{ error: true, … }`; here it is a refusal like any other.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { copyWith, member, signalMember, textMember, type ToolAdapter } from './adapter.ts';

export const mastraAdapter: ToolAdapter = {
  read(tool) {
    const id = member(tool, 'id');
    const inputSchema = member(tool, 'inputSchema');
    if (typeof id !== 'string' || typeof member(tool, 'execute') !== 'function' || inputSchema === undefined)
      return undefined;
    return {
      framework: 'mastra',
      name: id,
      description: textMember(tool, 'description'),
      inputSchema,
      outputSchema: member(tool, 'outputSchema'),
    };
  },
  govern(tool, govern) {
    const execute = member(tool, 'execute') as (input: unknown, context: object) => Promise<unknown>;
    return copyWith(tool, {
      execute: (input: unknown, context: object | undefined) =>
        govern({
          arguments: input,
          signal: signalMember(context, 'abortSignal'),
          run: async (args, abortSignal) => execute.call(tool, args, { ...context, abortSignal }),
          observed: (returned) => observed(textMember(tool, 'id'), returned),
          steers: () => false,
        }),
    });
  },
};

function observed(id: string, returned: unknown): unknown {
  if (member(returned, 'error') !== true || member(returned, 'validationErrors') === undefined) return returned;
  throw new CaseOpsError('ERR_TOOL_OUTPUT_SCHEMA', `Tool ${id} broke a schema of its own; Mastra refused the result.`, {
    at: 'tool',
  });
}
