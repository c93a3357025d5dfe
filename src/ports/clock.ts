/** Time, as a part that can be replaced: only its adapters read the machine's clock. */
export interface Clock {
  /** RFC 3339 UTC with milliseconds. */
  now(): string;
  /** Milliseconds since the epoch; the same instant as `now()`. */
  nowMs(): number;
  /** Calls back once at or after `atMs`; the returned function disarms it. */
  at(atMs: number, callback: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
