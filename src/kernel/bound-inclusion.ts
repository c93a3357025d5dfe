/** Bounds of a lease on one argument: what is inside one, and when one is inside another. Source: LEASE "Narrowing"; INV-10. */
import type { Bound } from '#contracts/lease.ts';

/** Whether an argument's value is inside its bound. Exact types: "1" is not 1, and NaN is inside nothing. */
export function insideBound(bound: Bound, value: unknown): boolean {
  if ('exact' in bound) return value === bound.exact;
  if ('one_of' in bound) return bound.one_of.some((allowed) => allowed === value);
  if ('subset' in bound) return Array.isArray(value) && value.every((item) => bound.subset.some((a) => a === item));
  return insideRange(bound, value);
}

/**
 * Whether every value inside `child` is inside `parent`. Decided within one type by inclusion; across types only an exact value
 * inside a set or a range. Whatever else is undecided, and so not included.
 */
export function boundIncluded(child: Bound, parent: Bound): boolean {
  if ('exact' in child) return !('subset' in parent) && insideBound(parent, child.exact);
  if ('one_of' in child) return 'one_of' in parent && child.one_of.every((value) => insideBound(parent, value));
  if ('subset' in child) return 'subset' in parent && insideBound(parent, child.subset);
  if ('exact' in parent || 'one_of' in parent || 'subset' in parent) return false;
  return includedEnd(child, parent, 'min') && includedEnd(child, parent, 'max');
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

function insideRange(bound: Range, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return (bound.min === undefined || value >= bound.min) && (bound.max === undefined || value <= bound.max);
}

/** An end that the parent has must be there and tighter or equal; an end that only the child has narrows. */
function includedEnd(child: Range, parent: Range, end: 'min' | 'max'): boolean {
  const outer = parent[end];
  if (outer === undefined) return true;
  const inner = child[end];
  return inner !== undefined && (end === 'min' ? inner >= outer : inner <= outer);
}
