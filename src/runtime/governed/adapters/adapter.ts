/** One framework's tools: how they are told, read, and copied with every door governed. No adapter imports its framework. */
import type { ForeignTool } from '../adopted-tool.ts';
import type { Invocation } from '../governed-call.ts';

/** Makes one governed call; what the tool returned. */
export type Govern = (invocation: Invocation) => Promise<unknown>;

export interface ToolAdapter {
  /** What the tool is; undefined when it is none of this framework's. */
  read(tool: object): ForeignTool | undefined;
  /** A copy of the tool whose calls go through `govern`. The tool that was given is not touched. */
  govern(tool: object, govern: Govern): object;
}

/** A member of an object that may be anything. */
export function member(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  return (value as Readonly<Record<PropertyKey, unknown>>)[key];
}

export function textMember(value: unknown, key: PropertyKey): string {
  const found = member(value, key);
  return typeof found === 'string' ? found : '';
}

export function signalMember(value: unknown, key: PropertyKey): AbortSignal | undefined {
  const found = member(value, key);
  return found instanceof AbortSignal ? found : undefined;
}

/** Of the same kind, with the same members, some of them replaced. */
export function copyWith(tool: object, replaced: Readonly<Record<string, unknown>>): object {
  const copy: object = Object.create(
    Object.getPrototypeOf(tool) as object | null,
    Object.getOwnPropertyDescriptors(tool),
  );
  for (const [key, value] of Object.entries(replaced))
    Object.defineProperty(copy, key, { value, enumerable: true, writable: false, configurable: false });
  return copy;
}

/** The last of what a tool yields: what came before it was preliminary. A promise is waited for. */
export async function lastOf(returned: unknown): Promise<unknown> {
  const value = await returned;
  const iterate = member(value, Symbol.asyncIterator);
  if (typeof iterate !== 'function') return value;
  let last: unknown;
  for await (const item of value as AsyncIterable<unknown>) last = item;
  return last;
}
