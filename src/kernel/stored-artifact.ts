/** Reads an artifact back from where it was kept: nothing is believed but its digest and its schema. INV-01. Source: DESIGN §3.6, §4. */
import { artifact as artifactSchema, ARTIFACT_BYTES_MAX, type Artifact } from '#contracts/artifact.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { Digest } from '#contracts/ids.ts';
import { digestOfBytes } from './digest.ts';
import { failure } from './failure.ts';
import { parseStrictJson } from './strict-json.ts';

export type StoredArtifact =
  | { readonly ok: true; readonly artifact: Artifact }
  | { readonly ok: false; readonly error: ErrorRecord };

/**
 * The artifact in `bytes`, kept under `ref`. Refuses with ERR_ARTIFACT_MISSING when there are none, ERR_ARTIFACT_DIGEST when they are other
 * bytes, and ERR_ARTIFACT_SCHEMA when they are no artifact.
 */
export function readStoredArtifact(bytes: Uint8Array | undefined, ref: Digest): StoredArtifact {
  if (bytes === undefined) return refused('ERR_ARTIFACT_MISSING', `Artifact ${ref} is not in the artifact store.`);
  const digest = digestOfBytes(bytes);
  if (digest !== ref) return refused('ERR_ARTIFACT_DIGEST', `Artifact ${ref} is stored as other bytes, ${digest}.`);
  const parsed = parseStrictJson(bytes, { bytesMax: ARTIFACT_BYTES_MAX });
  const checked = artifactSchema.safeParse(parsed.ok ? parsed.value : undefined);
  if (checked.success) return { ok: true, artifact: checked.data };
  return refused('ERR_ARTIFACT_SCHEMA', `What is stored as ${ref} is no artifact.`);
}

function refused(
  code: 'ERR_ARTIFACT_MISSING' | 'ERR_ARTIFACT_DIGEST' | 'ERR_ARTIFACT_SCHEMA',
  message: string,
): StoredArtifact {
  return { ok: false, error: failure(code, message) };
}
