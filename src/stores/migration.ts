/** One numbered change of a database's tables, forward and back, in the words of its dialect. Source: issue "migrations forward and back". */

export interface Migration {
  /** Counts from 1 without a gap; the database's version is that of the last one applied. Never changed once released. */
  readonly version: number;
  /** What it is for, in a few words. */
  readonly title: string;
  readonly up: string;
  /** Undoes `up`. */
  readonly down: string;
  /** What going back throws away, as the object of a sentence; going back is then refused unless it is asked for by name. */
  readonly downLoses?: string;
}
