/** Values of a query or header: each bounded, and refused by its name when it is something else. Source: SURFACES "HTTP API". */
import { CaseOpsError } from '#contracts/error.ts';

/** A whole number; `otherwise` when none was given; ERR_USAGE with what was expected and what came. */
export function readCount(
  given: string | undefined,
  of: { readonly name: string; readonly otherwise: number; readonly min: number; readonly max: number },
): number {
  if (given === undefined) return of.otherwise;
  const count = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (count >= of.min && count <= of.max) return count;
  throw new CaseOpsError(
    'ERR_USAGE',
    `Expected a whole number from ${of.min} to ${of.max} as ${of.name}, got ${JSON.stringify(given.slice(0, 40))}.`,
    { at: 'http' },
  );
}

/** One of the words; undefined when none was given; ERR_USAGE with what was expected and what came. */
export function readWord<W extends string>(
  given: string | undefined,
  name: string,
  words: readonly W[],
): W | undefined {
  if (given === undefined) return undefined;
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  throw new CaseOpsError(
    'ERR_USAGE',
    `Expected one of ${words.join(', ')} as ${name}, got ${JSON.stringify(given.slice(0, 40))}.`,
    { at: 'http' },
  );
}
