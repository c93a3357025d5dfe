/** Reading a body whole, within a bound: exact bytes, since the proof of possession covers them. */

/** The bytes of a web stream, or undefined when there are more than `bytesMax`; then the rest is cancelled. */
export async function readBounded(
  stream: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!stream) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let count = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of stream) {
    count += chunk.byteLength;
    if (count > bytesMax) return undefined;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(count);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
