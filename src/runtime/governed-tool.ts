/**
 * One tool that a program has already, of LangGraph, the AI SDK or Mastra, under lease, budget and evidence, without a plan: the counterpart
 * of `governedEffect` for tools that read or draft. Several tools under one budget share a session of `createGoverned`.
 * Source: docs/decisions/0010; DESIGN §1 "keep what they already have".
 */
import { createGoverned } from './create-governed.ts';
import type { GovernedOptions, GovernedSession, GovernedToolOptions } from './governed/governed-options.ts';

/** The session of the one tool. Dispose or close it, or its run stays open. */
export interface GovernedTool<T extends object> extends GovernedSession {
  /** The same kind of tool, with every call governed; the one that was given stays as it is. */
  readonly tool: T;
}

/**
 * Opens a session for `tool`. Throws ERR_CONFIG when the tool's shape is not known, it has no schema, or an option is not well formed;
 * ERR_UNAUTHENTICATED for a development identity that does not exist; ERR_STORE when the directory can hold no store. Nothing stays open then.
 */
export function governedTool<T extends object>(
  tool: T,
  options: GovernedOptions & GovernedToolOptions,
): GovernedTool<T> {
  const session = createGoverned(options);
  try {
    return { ...session, tool: session.tool(tool, options) };
  } catch (error) {
    // Nothing was called yet, so that closing only frees what was opened; the caller learns what was wrong with the tool.
    session.close().catch(() => undefined);
    throw error;
  }
}
