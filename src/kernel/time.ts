/** Times as numbers and back: the kernel is told the time and never asks for it. */

/** What was asked last: most are asked again at once, of one attempt after the other. */
let lastRead = { at: '', millis: Number.NaN };
let lastWritten = { millis: Number.NaN, at: '' };

/** Milliseconds since the epoch of an RFC 3339 UTC time. */
export function millisOf(at: string): number {
  if (lastRead.at !== at) lastRead = { at, millis: Date.parse(at) };
  return lastRead.millis;
}

/** The RFC 3339 UTC time, with milliseconds. */
export function timestampOf(millis: number): string {
  if (lastWritten.millis !== millis) lastWritten = { millis, at: new Date(millis).toISOString() };
  return lastWritten.at;
}
