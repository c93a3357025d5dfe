/** The places where bytes of others come in, as a campaign sees them: a valid message, a way to offer bytes, and what was recorded. */

/** What a door made of the bytes it was offered. */
export interface Offered {
  readonly taken: boolean;
  /** Typed: a code of ours or of the protocol. Empty when taken. */
  readonly code: string;
  /** What the door says was expected, what came, and where. */
  readonly said: string;
  /** True for an answer that blames the door itself: HTTP 5xx, an internal error. */
  readonly broken: boolean;
}

export interface Door extends AsyncDisposable {
  readonly name: string;
  /** A valid message, made anew. */
  message(): Promise<unknown>;
  offer(bytes: Uint8Array<ArrayBuffer>): Promise<Offered>;
  /** How much this door has recorded or done so far: rows, runs, calls. */
  recordedCount(): number;
}
