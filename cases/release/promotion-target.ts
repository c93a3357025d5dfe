/** What applies a promotion: the tenant's flag file, which starts with reranker-v17 at 5 % and version v3. */
import { type Clock, createFlagFileTarget, type EffectTarget } from 'caseops/effects';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `<directory>/tenant-7.flagd.json`, written when it is not there. */
export function promotionTarget({
  directory,
  clock,
}: {
  readonly directory: string;
  readonly clock: Clock;
}): EffectTarget {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'tenant-7.flagd.json');
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(INITIAL, null, 2)}\n`);
  return createFlagFileTarget({ directory, clock });
}

const INITIAL = {
  $schema: 'https://flagd.dev/schema/v0/flags.json',
  flags: {
    'reranker-v17': {
      state: 'ENABLED',
      variants: { on: true, off: false },
      defaultVariant: 'off',
      targeting: {
        fractional: [
          ['on', 5],
          ['off', 95],
        ],
      },
      metadata: { version: 'v3' },
    },
  },
};
