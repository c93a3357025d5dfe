/** What the kernel answers to a command: events to append, or a refusal that changes nothing. */
import type { ErrorCode, ErrorRecord } from '#contracts/error.ts';
import type { EventDraft } from '#contracts/event.ts';
import { failure, type FailureDetail } from './failure.ts';

export type Decision =
  /** May be empty: the command said what the run knows already. */
  { readonly ok: true; readonly events: readonly EventDraft[] } | { readonly ok: false; readonly error: ErrorRecord };

export type InvariantId =
  | 'INV-01'
  | 'INV-02'
  | 'INV-03'
  | 'INV-04'
  | 'INV-05'
  | 'INV-06'
  | 'INV-07'
  | 'INV-08'
  | 'INV-09'
  | 'INV-11'
  | 'INV-12'
  | 'INV-13';

export function decided(...events: readonly EventDraft[]): Decision {
  return { ok: true, events };
}

export function refused(code: ErrorCode, message: string, detail?: FailureDetail): Decision {
  return { ok: false, error: failure(code, message, detail) };
}

/** The command would break an invariant: whoever sent it is wrong about the run. */
export function violated(invariant: InvariantId, message: string): Decision {
  return refused('ERR_INVARIANT', `${invariant}: ${message}`, { invariant });
}
