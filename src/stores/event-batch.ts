/**
 * Events as a store keeps them: those of one commit in one row, without what the row and the event before say already. What is read is
 * the event as it was sealed, member for member. Source: ENGINE lesson 1, INV-11.
 */
import type { RunRef } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import { bodyText } from '#kernel/chain.ts';
import { eventOf, unreadable } from './rows.ts';

/** A row of `event_batch`. */
export interface StoredBatch {
  readonly first_seq: number;
  /** Of its last event. */
  readonly seq: number;
  /** The hash before its first event. */
  readonly prev: string;
  readonly json: string;
}

/** The text of a row: each event without tenant, run, sequence and the hash before it. */
export function batchText(events: readonly RunEvent[]): string {
  return `[${events.map(eventText).join(',')}]`;
}

/** Written by hand around the body's text, which was made when it was hashed; only the actor can need escaping. */
function eventText(event: RunEvent): string {
  const { kind, schemaVersion, at, actor, bodyDigest, hash } = event;
  return `{"kind":"${kind}","schemaVersion":${schemaVersion},"at":"${at}","actor":${JSON.stringify(actor)},"bodyDigest":"${bodyDigest}","hash":"${hash}","body":${bodyText(event)}}`;
}

/** The events of a row, each held against its schema. Throws ERR_STORE for a row that is not what was written. */
export function eventsOfBatch(row: StoredBatch, ref: RunRef): readonly RunEvent[] {
  const { first_seq: first, seq, json } = row;
  const what = `events ${ref.tenant}/${ref.runId}#${first}-${seq}`;
  let { prev } = row;
  return listOf(json, { what, count: seq - first + 1 }).map((kept, index) => {
    const { tenant, runId } = ref;
    const own = typeof kept === 'object' && kept !== null ? kept : {};
    const event = eventOf({ ...own, tenant, runId, seq: first + index, prev }, ref, first + index);
    prev = event.hash;
    return event;
  });
}

function listOf(json: string, { what, count }: { readonly what: string; readonly count: number }): readonly unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch (cause) {
    throw unreadable(what, 'are not JSON', cause);
  }
  if (!Array.isArray(list) || list.length !== count) throw unreadable(what, `are not ${count} events`, undefined);
  return list;
}
