/** How every store keeps an event whose body is gone: its envelope as it was sealed, and the tombstone that took the body. Decision 0022. */
import type { RunEvent } from '#contracts/event.ts';
import type { TombstoneId } from '#contracts/ids.ts';

/** What is stored in place of the event; `omit` leaves members out that the store keeps elsewhere. */
export function withoutBody(event: Readonly<Record<string, unknown>>, tombstoneId: TombstoneId): unknown {
  const { body: _body, ...envelope } = event;
  return { ...envelope, erased: tombstoneId };
}

/** A stored event as it is read: one without a body as `body.erased`; anything else as it is. */
export function asRead(stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || !('erased' in stored) || 'body' in stored) return stored;
  const { erased: tombstoneId, ...envelope } = stored;
  const kind: unknown = 'kind' in stored ? stored.kind : undefined;
  return { ...envelope, kind: 'body.erased', body: { kind, tombstoneId } };
}

/** Whether an erasure takes this event's body: not a tombstone's, and none that is gone already. */
export function losesBody(event: Pick<RunEvent, 'seq'> & { readonly kind: string }, uptoSeq: number): boolean {
  return event.seq <= uptoSeq && event.kind !== 'run.erased' && event.kind !== 'body.erased';
}
