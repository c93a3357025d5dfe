/** Reads the record of a confirmed effect back from where it was kept: nothing is believed but its digests and its schema. INV-01. */
import { type EffectRecord, effectRecord } from '#contracts/effect-record.ts';
import type { Digest } from '#contracts/ids.ts';
import { digestOf, digestOfBytes } from './digest.ts';
import { parseStrictJson } from './strict-json.ts';

/** The record in `bytes`, kept under `ref`; undefined when there is none, or it is not what its digests say. */
export function readStoredEffect(bytes: Uint8Array | undefined, ref: Digest): EffectRecord | undefined {
  if (bytes === undefined || digestOfBytes(bytes) !== ref) return undefined;
  const parsed = parseStrictJson(bytes);
  const checked = effectRecord.safeParse(parsed.ok ? parsed.value : undefined);
  if (!checked.success) return undefined;
  const { record, evidence, receipt } = checked.data;
  const recordDigest = digestOf(record);
  return recordDigest === evidence.digest && recordDigest === receipt.recordDigest ? checked.data : undefined;
}
