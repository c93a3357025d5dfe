/** What may happen next to an explored run. */
import type { Command } from '#contracts/command.ts';

/**
 * Whose move it is. `todo`: what the run asked for is done. `arrival`: a message of a team or of an effect's owner. `person`: a decision.
 * `cancel`, `time`, `crash`: as they say; `deadline`: time in which the run's own deadline comes. `wrong`: what nobody should ask for, or what comes from elsewhere.
 */
export type MoveBy = 'todo' | 'arrival' | 'person' | 'cancel' | 'time' | 'deadline' | 'crash' | 'wrong';

export interface Move {
  /** For people: `deliver s1#1 completed A`. */
  readonly label: string;
  readonly by: MoveBy;
  /** Time that passes before, in units. */
  readonly waits: number;
  /** Without a command nothing but time passes. */
  readonly command: Command | undefined;
}
