/** Whether a promotion holds as it was approved: by what the file says of it, and by what flagd-core makes of the file. */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { AppliedEffect, PostconditionFinding } from '#ports/effect-target.ts';
import { z } from 'zod';
import { isShare } from './flag-evaluation.ts';

const record = z.looseObject({
  release_id: z.string(),
  traffic_percent: z.number(),
  now: z
    .looseObject({
      version: z.string().nullable(),
      weight_percent: z.number().nullable(),
      on_count: z.number().nullable(),
      sample_count: z.number().nullable(),
    })
    .nullable(),
});

/** Empty: it holds, or a later promotion has taken its place. */
export function flagPostcondition(action: EffectAction, applied: AppliedEffect): readonly PostconditionFinding[] {
  const parsed = record.safeParse(applied.record);
  if (!parsed.success) return [{ pointer: '', expected: 'a promotion record', got: 'another record' }];
  const { release_id: release, traffic_percent: percent } = action.parameters;
  const { release_id, traffic_percent, now } = parsed.data;
  const found = [
    differs('/release_id', release, release_id),
    differs('/traffic_percent', percent, traffic_percent),
  ].flat();
  if (now === null || typeof percent !== 'number') return found;
  return [
    ...found,
    ...differs('/now/version', applied.version, now.version),
    ...differs('/now/weight_percent', percent, now.weight_percent),
    ...shareFinding(percent, now),
  ];
}

function differs(pointer: string, expected: unknown, got: unknown): readonly PostconditionFinding[] {
  return expected === got ? [] : [{ pointer, expected: String(expected), got: String(got) }];
}

function shareFinding(
  percent: number,
  { on_count, sample_count }: { readonly on_count: number | null; readonly sample_count: number | null },
): readonly PostconditionFinding[] {
  const evaluated =
    on_count === null || sample_count === null
      ? undefined
      : { onCount: on_count, sampleCount: sample_count, reason: '', version: undefined };
  if (evaluated !== undefined && isShare(evaluated, percent)) return [];
  return [
    {
      pointer: '/now/on_count',
      expected: `about ${percent} %`,
      got: evaluated === undefined ? 'no evaluation' : `${evaluated.onCount} of ${evaluated.sampleCount}`,
    },
  ];
}
