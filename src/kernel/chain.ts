/** The hash chain of a run's events: sealing and verifying. INV-11. */
import type { RunRef } from '#contracts/command.ts';
import { EVENT_VERSION, type EventDraft, type RunEvent } from '#contracts/event.ts';
import type { Digest } from '#contracts/ids.ts';
import { canonicalText } from './canonical.ts';
import { digestOf, digestOfBytes } from './digest.ts';
import { stringText } from './plain-canonical.ts';

export interface ChainHead {
  readonly ref: RunRef;
  readonly seq: number;
  readonly hash: Digest | '';
}

/** The event's hash: over everything but `body` (covered by bodyDigest) and `hash` itself. */
function hashOf(event: Omit<RunEvent, 'hash' | 'body' | 'kind'> & { readonly kind: string }): Digest {
  const { tenant, runId, seq, kind, schemaVersion, at, actor, prev, bodyDigest } = event;
  return digestOf({ tenant, runId, seq, kind, schemaVersion, at, actor, prev, bodyDigest });
}

/** The same bytes written by hand, since most of what a run hashes are envelopes; a text with a lone surrogate takes the long way. */
function sealHash(event: Omit<RunEvent, 'hash' | 'body'>): Digest {
  const { tenant, runId, seq, kind, schemaVersion, at, actor, prev, bodyDigest } = event;
  const [by, of, run, when] = [stringText(actor), stringText(tenant), stringText(runId), stringText(at)];
  if (by === undefined || of === undefined || run === undefined || when === undefined) return hashOf(event);
  return digestOfBytes(
    `{"actor":${by},"at":${when},"bodyDigest":"${bodyDigest}","kind":"${kind}","prev":"${prev}","runId":${run},"schemaVersion":${schemaVersion},"seq":${seq},"tenant":${of}}`,
  );
}

/** The texts that were hashed, for as long as their events live: a store need not write them again. */
const bodyTexts = new WeakMap<object, string>();

/** An event's body as JSON: as it was hashed, where this process sealed it. */
export function bodyText({ body }: RunEvent): string {
  return bodyTexts.get(body) ?? canonicalText(body) ?? JSON.stringify(body);
}

function sealBody(body: EventDraft['body']): Digest {
  const text = canonicalText(body);
  if (text === undefined) return digestOf(body);
  bodyTexts.set(body, text);
  return digestOfBytes(text);
}

/** Appends a draft to the chain that ends at `head`. */
export function sealEvent(
  head: ChainHead,
  draft: EventDraft,
  by: { readonly at: string; readonly actor: string },
): RunEvent {
  const open = {
    tenant: head.ref.tenant,
    runId: head.ref.runId,
    seq: head.seq + 1,
    kind: draft.kind,
    schemaVersion: EVENT_VERSION,
    at: by.at,
    actor: by.actor,
    prev: head.hash,
    bodyDigest: sealBody(draft.body),
  } as const;
  return { ...open, body: draft.body, hash: sealHash(open) } as RunEvent;
}

export type ChainVerdict =
  | { readonly ok: true; readonly head: ChainHead }
  | { readonly ok: false; readonly seq: number; readonly expected: string; readonly got: string };

/**
 * Verifies events in order from `head`; names the first event that does not hold. A body that is gone is as good as there when a later
 * tombstone of the same events says that it was taken; without one it is missing. INV-11.
 */
export function verifyChain(head: ChainHead, events: Iterable<RunEvent>): ChainVerdict {
  let { seq, hash } = head;
  const gone: Extract<RunEvent, { readonly kind: 'body.erased' }>[] = [];
  const tombs = new Map<string, number>();
  for (const event of events) {
    const broken = (expected: string, got: string): ChainVerdict => ({ ok: false, seq: seq + 1, expected, got });
    if (event.tenant !== head.ref.tenant || event.runId !== head.ref.runId)
      return broken(`${head.ref.tenant}/${head.ref.runId}`, `${event.tenant}/${event.runId}`);
    if (event.seq !== seq + 1) return broken(`seq ${seq + 1}`, `seq ${event.seq}`);
    if (event.prev !== hash) return broken(`prev ${hash}`, `prev ${event.prev}`);
    const isGone = event.kind === 'body.erased';
    const body = isGone ? event.bodyDigest : digestOf(event.body);
    if (event.bodyDigest !== body) return broken(`body ${event.bodyDigest}`, `body ${body}`);
    const own = hashOf(isGone ? { ...event, kind: event.body.kind } : event);
    if (event.hash !== own) return broken(`hash ${own}`, `hash ${event.hash}`);
    if (isGone) gone.push(event);
    if (event.kind === 'run.erased') tombs.set(event.body.tombstoneId, event.body.uptoSeq);
    seq = event.seq;
    hash = event.hash;
  }
  const loose = gone.find(({ seq: of, body }) => of > (tombs.get(body.tombstoneId) ?? 0));
  if (loose !== undefined)
    return { ok: false, seq: loose.seq, expected: `body ${loose.bodyDigest}`, got: 'no body, and no tombstone for it' };
  return { ok: true, head: { ref: head.ref, seq, hash } };
}
