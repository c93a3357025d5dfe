/** Rows that one call returns at most, whatever its limit says. */
const PAGE_ROW_COUNT_MAX = 10_000;

/** A limit as a database takes it. */
export function page(limit: number): number {
  return Math.max(0, Math.min(Math.trunc(limit), PAGE_ROW_COUNT_MAX));
}
