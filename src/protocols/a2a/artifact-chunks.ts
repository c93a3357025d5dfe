/**
 * A large artifact on a stream: pieces of its RFC 8785 bytes in order, each an artifact update with `append` and `lastChunk`. Each piece
 * says which it is, so that a reader tells a missing one from the next. Source: A2A 1.0.1 §4.2 TaskArtifactUpdateEvent; DESIGN §3.6.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { z } from 'zod';
import { ARTIFACT_MEDIA_TYPE, ARTIFACT_RECORD_BYTES_MAX, type Artifact } from '#contracts/artifact.ts';
import { digest } from '#contracts/ids.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { TaskView } from '#ports/team-door.ts';

/** Of one piece; base64 makes it a third longer on the wire. */
export const CHUNK_BYTES = 262_144;
/** Pieces of one artifact: others may cut finer than we do. */
export const CHUNK_COUNT_MAX = 1_024;
/** The key of a piece's own facts in the update's metadata. */
export const CHUNK_KEY = 'urn:caseops:artifact-chunk:v1';

/** What a piece says about itself and the whole. A team that is not ours may say nothing. */
export const chunkFacts = z.strictObject({
  index: z.int().min(0),
  count: z.int().min(1),
  /** Of the whole. */
  sizeBytes: z.int().min(0),
  digest,
});
export type ChunkFacts = z.infer<typeof chunkFacts>;

type Payload = NonNullable<StreamResponse['payload']>;

/** The artifact's bytes; undefined when it fits into one update or snapshot in a list. */
export function largeBytes(artifact: Artifact): Uint8Array | undefined {
  const bytes = new TextEncoder().encode(canonicalText(artifact) ?? '');
  return bytes.byteLength > ARTIFACT_RECORD_BYTES_MAX ? bytes : undefined;
}

/** The updates that deliver an artifact in pieces; the last one has `lastChunk`. */
export function* chunkEvents(
  of: Pick<TaskView, 'taskId' | 'contextId'>,
  artifact: Artifact,
  bytes: Uint8Array,
): Generator<Payload, void, undefined> {
  const count = Math.max(1, Math.ceil(bytes.byteLength / CHUNK_BYTES));
  const whole = { count, sizeBytes: bytes.byteLength, digest: digestOfBytes(bytes) };
  for (let index = 0; index < count; index += 1) {
    const piece = bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
    yield pieceEvent(of, { artifact, piece, facts: { index, ...whole } });
  }
}

function pieceEvent(
  { taskId, contextId }: Pick<TaskView, 'taskId' | 'contextId'>,
  of: { readonly artifact: Artifact; readonly piece: Uint8Array; readonly facts: ChunkFacts },
): Payload {
  const { artifact, piece, facts } = of;
  const { index, count } = facts;
  return {
    $case: 'artifactUpdate',
    value: {
      taskId,
      contextId,
      artifact: {
        artifactId: artifact.artifactId,
        name: artifact.skillId,
        description: '',
        parts: [
          {
            content: { $case: 'raw', value: Buffer.from(piece) },
            metadata: undefined,
            filename: '',
            mediaType: ARTIFACT_MEDIA_TYPE,
          },
        ],
        metadata: undefined,
        extensions: [],
      },
      append: index > 0,
      lastChunk: index === count - 1,
      metadata: { [CHUNK_KEY]: facts },
    },
  };
}
