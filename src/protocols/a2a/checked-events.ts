/** Reads a team's event stream beside the SDK: bounded lines, strict JSON, and error frames as our errors. Source: SEAMS. */
import { CaseOpsError } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import { readWireError, thrown } from './wire-error.ts';

const EVENT_BYTES_MAX = 4_194_304;

/** Passes bytes on unchanged; fails the stream at the first frame that is malformed, too large or an error. */
export function checkEvents(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      const fault = rest.length > EVENT_BYTES_MAX ? unreadable('an event is too large') : firstFault(lines);
      if (fault === undefined) controller.enqueue(chunk);
      else controller.error(fault);
    },
  });
}

function firstFault(lines: readonly string[]): CaseOpsError | undefined {
  for (const line of lines) {
    if (!line.startsWith('data:')) continue;
    const parsed = parseStrictJson(line.slice('data:'.length).trim(), { bytesMax: EVENT_BYTES_MAX });
    if (!parsed.ok) return unreadable(parsed.error.message);
    // Both bindings put a failure under `error`: as an error frame, or as a JSON-RPC answer without a result.
    if (isFailure(parsed.value)) return thrown(readWireError(500, parsed.value, 'a2a'));
  }
  return undefined;
}

function unreadable(why: string): CaseOpsError {
  const message = `The team's event stream cannot be read: ${why.slice(0, 300)}`;
  return new CaseOpsError('ERR_TEAM_FAILED', message, { at: 'a2a', retryable: false });
}

function isFailure(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'error' in value;
}
