/** What a simulated world did that it must not. */
export type Property = `INV-${string}` | 'LIVENESS' | 'DETERMINISM';

export interface Violation {
  readonly property: Property;
  /** What was expected, what came, which id. */
  readonly message: string;
  /** Virtual time, RFC 3339. */
  readonly at: string;
}

export type Report = (property: Property, message: string) => void;
