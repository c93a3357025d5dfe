/** A drill as data: what is done to the parts, what must come of it, and which guard must have refused. */
import type { Stage } from './stage.ts';

/** Facts that are compared one by one; small words and numbers. */
export type Facts = Readonly<Record<string, string | number | boolean>>;

export interface Story {
  readonly id: string;
  /** A sentence for people. */
  readonly title: string;
  readonly effectCount: number;
  /** What must have refused or held: a code, or the name of a mechanism seen in the log. */
  readonly guard: string;
  readonly expected: Facts;
  play(stage: Stage): Promise<Told>;
}

export interface Told {
  readonly guard: string;
  readonly facts: Facts;
}
