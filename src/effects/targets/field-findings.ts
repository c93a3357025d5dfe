/** Where a record differs from what was approved. */
import { canonicalText } from '#kernel/canonical.ts';
import { escapePointer } from '#kernel/pointer.ts';
import type { EffectParameters, PostconditionFinding } from '#ports/effect-target.ts';

/** One finding per approved parameter that `got` does not have with the same value; `at` is the pointer to `got`. */
export function fieldFindings(
  expected: EffectParameters,
  got: Readonly<Record<string, unknown>>,
  at: string,
): readonly PostconditionFinding[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const wanted = canonicalText(value) ?? '';
    const found = Object.hasOwn(got, name) ? (canonicalText(got[name]) ?? 'no value') : 'nothing';
    return wanted === found ? [] : [{ pointer: `${at}/${escapePointer(name)}`, expected: wanted, got: found }];
  });
}
