import assert from 'node:assert/strict';
import { test } from 'node:test';
import { artifactOf } from './claims-run.test.ts';
import { digestOfBytes } from './digest.ts';
import { readStoredArtifact } from './stored-artifact.ts';

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

function codeOf(bytes: Uint8Array | undefined, ref = digestOfBytes(bytes ?? '')): string {
  const read = readStoredArtifact(bytes, ref);
  return read.ok ? 'ok' : read.error.code;
}

test('an artifact reads back under the digest of its bytes', () => {
  const artifact = artifactOf('s1');
  const bytes = bytesOf(artifact);
  assert.deepEqual(readStoredArtifact(bytes, digestOfBytes(bytes)), { ok: true, artifact });
});

test('an artifact far larger than a message reads back whole', () => {
  const bytes = bytesOf({ ...artifactOf('s1'), data: { text: 'x'.repeat(2_000_000) } });
  assert.equal(codeOf(bytes), 'ok');
});

test('bytes that are gone, changed, no JSON or no artifact are refused, each with its own code', () => {
  const bytes = bytesOf(artifactOf('s1'));
  assert.equal(codeOf(undefined), 'ERR_ARTIFACT_MISSING');
  assert.equal(
    codeOf(
      Uint8Array.from(bytes, (byte, at) => (at === 5 ? 0 : byte)),
      digestOfBytes(bytes),
    ),
    'ERR_ARTIFACT_DIGEST',
  );
  assert.equal(codeOf(new TextEncoder().encode('{"a":1,"a":2}')), 'ERR_ARTIFACT_SCHEMA');
  assert.equal(codeOf(bytesOf({ contractVersion: '1.0.0' })), 'ERR_ARTIFACT_SCHEMA');
});
