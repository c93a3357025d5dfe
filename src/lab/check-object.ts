/**
 * What every checking command prints with `--json`: one object on stdout. A drill adds the stories it
 * played. Source: SURFACES "Check object".
 */

export interface CheckObject {
  readonly name: string;
  readonly ok: boolean;
  readonly counts: {
    readonly passed: number;
    readonly failed: number;
    readonly pending: number;
    readonly notTested: number;
  };
  /** Numbers with their units in their names. */
  readonly figures: Readonly<Record<string, number>>;
  readonly failures: readonly { readonly id: string; readonly expected: string; readonly got: string }[];
  readonly seed?: string;
  /** RFC 3339. */
  readonly date: string;
}
