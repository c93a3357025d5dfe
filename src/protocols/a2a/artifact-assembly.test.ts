import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Artifact as WireArtifact, Part, TaskArtifactUpdateEvent } from '@a2a-js/sdk';
import { ARTIFACT_BYTES_MAX, ARTIFACT_MEDIA_TYPE } from '#contracts/artifact.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import fc from 'fast-check';
import { type Assembled, createArtifactAssembly, OPEN_COUNT_MAX, PART_COUNT_MAX } from './artifact-assembly.ts';
import { CHUNK_COUNT_MAX, CHUNK_KEY, type ChunkFacts } from './artifact-chunks.ts';

type Update = Pick<TaskArtifactUpdateEvent, 'append' | 'lastChunk' | 'metadata'>;
interface Piece {
  readonly update: Update;
  readonly artifact: WireArtifact;
}

const TEXT = JSON.stringify({ marker: 'whole', list: [1, 2, 3], text: 'äöü 漢字 '.repeat(20) });
const VALUE: unknown = JSON.parse(TEXT);

const rawPart = (bytes: Uint8Array): Part => ({
  content: { $case: 'raw', value: Buffer.from(bytes) },
  metadata: undefined,
  filename: '',
  mediaType: ARTIFACT_MEDIA_TYPE,
});

const wire = (parts: Part[], artifactId = 'art_1'): WireArtifact => ({
  artifactId,
  name: '',
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
});

/** The text in `count` pieces that say which they are, as our server sends them; `silent` pieces say nothing. */
function piecesOf(count: number, over: { readonly text?: string; readonly silent?: boolean } = {}): Piece[] {
  const bytes = new TextEncoder().encode(over.text ?? TEXT);
  const size = Math.ceil(bytes.byteLength / count);
  return Array.from({ length: count }, (_, index) => {
    const facts: ChunkFacts = { index, count, sizeBytes: bytes.byteLength, digest: digestOfBytes(bytes) };
    return {
      update: {
        append: index > 0,
        lastChunk: index === count - 1,
        metadata: over.silent === true ? undefined : { [CHUNK_KEY]: facts },
      },
      artifact: wire([rawPart(bytes.subarray(index * size, (index + 1) * size))]),
    };
  });
}

/** What the last of these pieces gave; a refusal ends it. */
function taken(pieces: readonly Piece[], assembly = createArtifactAssembly()): Assembled {
  let last: Assembled = { kind: 'open' };
  for (const { update, artifact } of pieces) {
    last = assembly.take(update, artifact);
    if (last.kind === 'refused') return last;
  }
  return last;
}

function refusalOf(pieces: readonly Piece[], assembly = createArtifactAssembly()): string {
  const last = taken(pieces, assembly);
  return last.kind === 'refused' ? `${last.error.code} ${last.error.retryable ? 'retryable' : 'final'}` : last.kind;
}

/** A piece of one byte that begins or goes on, and is never the last. */
const tiny = (append: boolean, artifactId = 'a'): Piece => ({
  update: { append, lastChunk: false, metadata: undefined },
  artifact: wire([rawPart(new Uint8Array(1))], artifactId),
});

const inParts = (count: number): Piece => ({
  ...tiny(false),
  artifact: wire(Array.from({ length: count }, () => rawPart(new Uint8Array()))),
});

const edited = (pieces: readonly Piece[], index: number, facts: Partial<ChunkFacts>): Piece[] =>
  pieces.map((piece, at) => {
    const said = piece.update.metadata?.[CHUNK_KEY] as ChunkFacts;
    return at === index
      ? { ...piece, update: { ...piece.update, metadata: { [CHUNK_KEY]: { ...said, ...facts } } } }
      : piece;
  });

test('pieces in order give the whole, however fine they are cut, also through the middle of a character', () => {
  for (const silent of [false, true])
    for (const count of [1, 2, 7, 100])
      assert.deepEqual(taken(piecesOf(count, { silent })), { kind: 'whole', value: VALUE });
});

test('any other order, a missing piece or a repeated one is refused, and may be tried again', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }), (order) => {
      const all = piecesOf(6);
      const pieces = order.flatMap((index) => all[index] ?? []);
      // A first piece begins anew: what counts is the last run of pieces from there.
      const run = order.slice(order.lastIndexOf(0));
      const isNext = order.indexOf(0) === 0 && order.every((index, at) => index === 0 || order[at - 1] === index - 1);
      const outcome = refusalOf(pieces);
      if (!isNext) assert.equal(outcome, 'ERR_ARTIFACT_INCOMPLETE retryable');
      else assert.equal(outcome, run.length === 6 ? 'whole' : 'open');
    }),
  );
});

test('a stream that is cut before the last piece has given nothing, and the next one begins anew', () => {
  const assembly = createArtifactAssembly();
  assert.deepEqual(taken(piecesOf(5).slice(0, 4), assembly), { kind: 'open' });
  assert.deepEqual(taken(piecesOf(3), assembly), { kind: 'whole', value: VALUE });
});

test('pieces that disagree about the whole, or only partly say which they are, are refused', () => {
  const pieces = piecesOf(3);
  const other = digestOfBytes('other');
  for (const facts of [{ count: 4 }, { digest: other }, { sizeBytes: 1 }, { index: 2 }])
    assert.equal(refusalOf(edited(pieces, 1, facts)), 'ERR_ARTIFACT_INCOMPLETE retryable', JSON.stringify(facts));
  const silent = piecesOf(3, { silent: true });
  assert.equal(refusalOf([pieces[0], silent[1]].flatMap((piece) => piece ?? [])), 'ERR_ARTIFACT_INCOMPLETE retryable');
  const early = pieces.map((piece) => ({ ...piece, update: { ...piece.update, lastChunk: true } }));
  assert.equal(refusalOf(early), 'ERR_ARTIFACT_INCOMPLETE retryable');
  assert.equal(refusalOf(edited(pieces, 0, { index: -1 })), 'ERR_ARTIFACT_SCHEMA final');
});

test('pieces that are not what their digest says, or no strict JSON, are refused for good', () => {
  const wrong = [0, 1, 2].reduce((pieces, index) => edited(pieces, index, { digest: digestOfBytes('x') }), piecesOf(3));
  assert.equal(refusalOf(wrong), 'ERR_ARTIFACT_DIGEST final');
  assert.equal(refusalOf(piecesOf(2, { text: '{"a":1,"a":2}' })), 'ERR_ARTIFACT_SCHEMA final');
  assert.equal(refusalOf(piecesOf(2, { text: '{"a":1' })), 'ERR_ARTIFACT_SCHEMA final');
});

test('a part of another media type, a link, or data in pieces is refused', () => {
  const whole = { append: false, lastChunk: true, metadata: undefined };
  const html = { ...rawPart(new Uint8Array(1)), mediaType: 'text/html' };
  assert.equal(refusalOf([{ update: whole, artifact: wire([html]) }]), 'ERR_ARTIFACT_MEDIA final');
  const link: Part = {
    ...html,
    mediaType: ARTIFACT_MEDIA_TYPE,
    content: { $case: 'url', value: 'http://169.254.169.254' },
  };
  assert.equal(refusalOf([{ update: whole, artifact: wire([link]) }]), 'ERR_ARTIFACT_MEDIA final');
  const data: Part = { ...link, content: { $case: 'data', value: {} } };
  assert.equal(refusalOf([{ update: whole, artifact: wire([data, data]) }]), 'ERR_ARTIFACT_MEDIA final');
  const begin = { append: false, lastChunk: false, metadata: undefined };
  assert.equal(refusalOf([{ update: begin, artifact: wire([data]) }]), 'ERR_ARTIFACT_MEDIA final');
});

test('the wall of bytes holds for what is said, for what comes, and for all artifacts in the making together', () => {
  assert.equal(refusalOf(edited(piecesOf(2), 0, { sizeBytes: ARTIFACT_BYTES_MAX + 1 })), 'ERR_ARTIFACT_SIZE final');
  const half = new Uint8Array(ARTIFACT_BYTES_MAX / 2);
  const piece = (artifactId: string, append: boolean): Piece => ({
    update: { append, lastChunk: false, metadata: undefined },
    artifact: wire([rawPart(half)], artifactId),
  });
  assert.equal(refusalOf([piece('a', false), piece('a', true)]), 'open');
  assert.equal(refusalOf([piece('a', false), piece('a', true), piece('a', true)]), 'ERR_ARTIFACT_SIZE final');
  assert.equal(refusalOf([piece('a', false), piece('b', false), piece('c', false)]), 'ERR_ARTIFACT_SIZE final');
});

test('the walls of pieces, parts and artifacts in the making hold', () => {
  assert.equal(refusalOf(edited(piecesOf(2), 0, { count: CHUNK_COUNT_MAX + 1 })), 'ERR_ARTIFACT_SIZE final');
  const many = Array.from({ length: CHUNK_COUNT_MAX + 1 }, (_, index) => tiny(index > 0));
  assert.equal(refusalOf(many.slice(0, -1)), 'open');
  assert.equal(refusalOf(many), 'ERR_ARTIFACT_SIZE final');
  assert.equal(refusalOf([inParts(PART_COUNT_MAX)]), 'open');
  assert.equal(refusalOf([inParts(PART_COUNT_MAX + 1)]), 'ERR_ARTIFACT_SIZE final');
  const open = Array.from({ length: OPEN_COUNT_MAX + 1 }, (_, index) => tiny(false, `a${index}`));
  assert.equal(refusalOf(open.slice(0, -1)), 'open');
  assert.equal(refusalOf(open), 'ERR_ARTIFACT_SIZE final');
});

test('a refused artifact leaves room for others', () => {
  const assembly = createArtifactAssembly();
  for (let count = 0; count < OPEN_COUNT_MAX * 2; count += 1) {
    const [first, , third] = piecesOf(3);
    if (first === undefined || third === undefined) return;
    assert.equal(refusalOf([first, third], assembly), 'ERR_ARTIFACT_INCOMPLETE retryable');
  }
  assert.equal(refusalOf(piecesOf(3), assembly), 'whole');
});
