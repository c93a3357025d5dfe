/** Times as numbers and back: the kernel is told the time and never asks for it. */

/** Milliseconds since the epoch of an RFC 3339 UTC time. */
export function millisOf(at: string): number {
  return Date.parse(at);
}

/** The RFC 3339 UTC time, with milliseconds. */
export function timestampOf(millis: number): string {
  return new Date(millis).toISOString();
}
