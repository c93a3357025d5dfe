/** Finds the framework of a tool and puts every call of a copy of it under the session. */
import { CaseOpsError } from '#contracts/error.ts';
import { adoptTool } from './adopted-tool.ts';
import type { ToolAdapter } from './adapters/adapter.ts';
import { aiSdkAdapter } from './adapters/ai-sdk-tool.ts';
import { langchainAdapter } from './adapters/langchain-tool.ts';
import { mastraAdapter } from './adapters/mastra-tool.ts';
import { governedCall } from './governed-call.ts';
import type { GovernedToolOptions } from './governed-options.ts';
import type { GovernedSession } from './session.ts';

/** The most particular shape first: a Mastra tool has an AI SDK tool's members and an id. */
const ADAPTERS: readonly ToolAdapter[] = [langchainAdapter, mastraAdapter, aiSdkAdapter];

/** A tool of the same kind as `tool`. Throws ERR_CONFIG when its shape is not known or the description is not well formed. */
export function governTool<T extends object>(session: GovernedSession, tool: T, options: GovernedToolOptions): T {
  for (const adapter of ADAPTERS) {
    const foreign = adapter.read(tool);
    if (foreign === undefined) continue;
    const governed = adoptTool(foreign, options, session.options.purpose);
    // The copy has the prototype and every member of the tool that was given.
    return adapter.govern(tool, (invocation) => governedCall(session, governed, invocation)) as T;
  }
  throw new CaseOpsError(
    'ERR_CONFIG',
    'Expected a tool of LangChain (name, schema, invoke), Mastra (id, inputSchema, execute) or the AI SDK (inputSchema, execute).',
    { at: 'runtime' },
  );
}
