/**
 * Puts a streamed artifact together: only whole and only in order. What lacks a piece is given to nobody, and nothing grows beyond the
 * walls, whatever a team sends. Source: A2A 1.0.1 §4.2 TaskArtifactUpdateEvent; DESIGN §3.6 "media, size, digest".
 */
import type { Artifact as WireArtifact, Part, TaskArtifactUpdateEvent } from '@a2a-js/sdk';
import { ARTIFACT_BYTES_MAX, ARTIFACT_MEDIA_TYPE } from '#contracts/artifact.ts';
import { ERROR_CODES, type ErrorCode, type ErrorRecord } from '#contracts/error.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import { CHUNK_COUNT_MAX, CHUNK_KEY, chunkFacts, type ChunkFacts } from './artifact-chunks.ts';

/** Parts of one artifact, its pieces together. */
export const PART_COUNT_MAX = 2_048;
/** Artifacts of one task that may be in the making at once; their bytes together have the wall of one. */
export const OPEN_COUNT_MAX = 8;

export type Assembled =
  | { readonly kind: 'whole'; readonly value: unknown }
  /** More pieces are to come. */
  | { readonly kind: 'open' }
  | { readonly kind: 'refused'; readonly error: ErrorRecord };

export interface ArtifactAssembly {
  /** Takes one update. A refusal leaves nothing of the artifact behind; a first piece begins it anew. */
  take(update: Pick<TaskArtifactUpdateEvent, 'append' | 'lastChunk' | 'metadata'>, artifact: WireArtifact): Assembled;
}

interface Open {
  readonly pieces: Uint8Array[];
  sizeBytes: number;
  partCount: number;
  updateCount: number;
  readonly facts: ChunkFacts | undefined;
}

/** For the stream of one task. */
export function createArtifactAssembly(): ArtifactAssembly {
  const open = new Map<string, Open>();
  return {
    take: (update, artifact) => {
      const taken = take(open, { update, artifact });
      if (taken.kind !== 'open') open.delete(artifact.artifactId);
      return taken;
    },
  };
}

/** The value of an artifact that came at once: one data part, or a text in parts. */
export function wholeValue(artifact: WireArtifact): Assembled {
  return createArtifactAssembly().take({ append: false, lastChunk: true, metadata: undefined }, artifact);
}

interface Piece {
  readonly update: Pick<TaskArtifactUpdateEvent, 'append' | 'lastChunk' | 'metadata'>;
  readonly artifact: WireArtifact;
}

function take(open: Map<string, Open>, piece: Piece): Assembled {
  const { update, artifact } = piece;
  const { artifactId, parts } = artifact;
  const [only] = parts;
  if (parts.some(({ mediaType }) => mediaType !== ARTIFACT_MEDIA_TYPE))
    return refused('ERR_ARTIFACT_MEDIA', `A part of artifact ${nameOf(artifactId)} is not ${ARTIFACT_MEDIA_TYPE}.`);
  if (!update.append && update.lastChunk && parts.length === 1 && only?.content?.$case === 'data')
    return { kind: 'whole', value: only.content.value };
  const facts = factsOf(update);
  if (facts === 'malformed')
    return refused('ERR_ARTIFACT_SCHEMA', `A piece of artifact ${nameOf(artifactId)} says malformed things of itself.`);
  const begun = update.append ? open.get(artifactId) : begin(open, artifactId, facts);
  const wrong = orderFault(begun, piece, facts) ?? wallFault(open, begun, facts);
  if (begun === undefined || wrong !== undefined) return wrong ?? outOfOrder(artifactId, 'its first piece is missing');
  begun.updateCount += 1;
  for (const part of parts) {
    const bytes = bytesOf(part);
    if (bytes === undefined)
      return refused(
        'ERR_ARTIFACT_MEDIA',
        `Artifact ${nameOf(artifactId)} is neither one data part nor a text in parts.`,
      );
    const grown = add(open, begun, bytes);
    if (grown !== undefined) return grown;
  }
  return update.lastChunk ? finish(artifactId, begun) : { kind: 'open' };
}

function begin(open: Map<string, Open>, artifactId: string, facts: ChunkFacts | undefined): Open {
  const begun: Open = { pieces: [], sizeBytes: 0, partCount: 0, updateCount: 0, facts };
  open.set(artifactId, begun);
  return begun;
}

function factsOf({ metadata }: Piece['update']): ChunkFacts | 'malformed' | undefined {
  const said: unknown = metadata?.[CHUNK_KEY];
  if (said === undefined) return undefined;
  const read = chunkFacts.safeParse(said);
  return read.success ? read.data : 'malformed';
}

/** A piece that is not the next one: another try may bring them in order. */
function orderFault(begun: Open | undefined, piece: Piece, facts: ChunkFacts | undefined): Assembled | undefined {
  const { artifactId } = piece.artifact;
  if (begun === undefined) return outOfOrder(artifactId, 'its first piece is missing');
  const { facts: first } = begun;
  if (first === undefined && facts === undefined) return undefined;
  if (first === undefined || facts === undefined)
    return outOfOrder(artifactId, 'only some of its pieces say which they are');
  if (facts.index !== begun.updateCount)
    return outOfOrder(artifactId, `piece ${facts.index} came where ${begun.updateCount} was expected`);
  if (facts.count !== first.count || facts.digest !== first.digest || facts.sizeBytes !== first.sizeBytes)
    return outOfOrder(artifactId, `piece ${facts.index} is of another whole`);
  if (piece.update.lastChunk !== (facts.index === first.count - 1))
    return outOfOrder(artifactId, `piece ${facts.index} of ${first.count} is not the last one`);
  return undefined;
}

function wallFault(
  open: Map<string, Open>,
  begun: Open | undefined,
  facts: ChunkFacts | undefined,
): Assembled | undefined {
  if (open.size > OPEN_COUNT_MAX)
    return refused('ERR_ARTIFACT_SIZE', `A task has at most ${OPEN_COUNT_MAX} artifacts in the making; more came.`);
  if (facts !== undefined && (facts.count > CHUNK_COUNT_MAX || facts.sizeBytes > ARTIFACT_BYTES_MAX))
    return refused(
      'ERR_ARTIFACT_SIZE',
      `An artifact has at most ${CHUNK_COUNT_MAX} pieces and ${ARTIFACT_BYTES_MAX} bytes; one says ${facts.count} and ${facts.sizeBytes}.`,
    );
  if (begun !== undefined && begun.updateCount >= CHUNK_COUNT_MAX)
    return refused('ERR_ARTIFACT_SIZE', `An artifact has at most ${CHUNK_COUNT_MAX} pieces; more came.`);
  return undefined;
}

function add(open: Map<string, Open>, begun: Open, bytes: Uint8Array): Assembled | undefined {
  begun.partCount += 1;
  begun.sizeBytes += bytes.byteLength;
  if (begun.partCount > PART_COUNT_MAX)
    return refused('ERR_ARTIFACT_SIZE', `An artifact has at most ${PART_COUNT_MAX} parts; more came.`);
  const total = [...open.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > ARTIFACT_BYTES_MAX)
    return refused('ERR_ARTIFACT_SIZE', `What is in the making has at most ${ARTIFACT_BYTES_MAX} bytes; more came.`);
  begun.pieces.push(bytes);
  return undefined;
}

function finish(artifactId: string, { pieces, facts }: Open): Assembled {
  const bytes = Buffer.concat(pieces);
  if (facts !== undefined && digestOfBytes(bytes) !== facts.digest)
    return refused('ERR_ARTIFACT_DIGEST', `Artifact ${nameOf(artifactId)} is not what the digest of its pieces says.`);
  const parsed = parseStrictJson(bytes, { bytesMax: ARTIFACT_BYTES_MAX });
  if (parsed.ok) return { kind: 'whole', value: parsed.value };
  return refused('ERR_ARTIFACT_SCHEMA', `Artifact ${nameOf(artifactId)} cannot be read: ${parsed.error.message}`);
}

function bytesOf({ content }: Part): Uint8Array | undefined {
  if (content?.$case === 'raw') return content.value;
  return content?.$case === 'text' ? new TextEncoder().encode(content.value) : undefined;
}

/** An id as a team wrote it may be anything. */
function nameOf(artifactId: string): string {
  return JSON.stringify(artifactId.slice(0, 80));
}

function outOfOrder(artifactId: string, why: string): Assembled {
  return refused('ERR_ARTIFACT_INCOMPLETE', `Artifact ${nameOf(artifactId)} did not come whole and in order: ${why}.`);
}

function refused(code: ErrorCode, message: string): Assembled {
  const kind = ERROR_CODES[code];
  return {
    kind: 'refused',
    error: { code, kind, message: message.slice(0, 2_000), at: 'a2a', retryable: kind === 'unavailable' },
  };
}
