/** Retention as an installation configures it, over the supervisor's store and those of the teams that it runs. Decision 0022. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRetentionDesk, type NamedStore } from '#evidence/erasure/retention-desk.ts';
import type { RetentionDesk, RetentionPolicy } from '#ports/retention-desk.ts';
import type { Store } from '#ports/store.ts';
import type { CaseOpsConfig } from './config.ts';
import { openOwnStore } from './open-store.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';

const TEAM_DATABASE = 'runs.db';

/** What somebody else serves is erased by them: their store is not ours. */
export function openRetention(of: {
  readonly store: Store;
  readonly directory: string;
  readonly config: CaseOpsConfig['retention'];
}): RetentionDesk {
  const { store, directory, config } = of;
  return createRetentionDesk({
    store,
    teams: async () => teamStores(join(directory, 'teams')),
    policyOf: (tenant) => policyOf(config, tenant),
    clock: systemClock,
    ids: systemIds,
  });
}

/** A tenant that is named has its own policy alone. */
export function policyOf({ tenants, ...every }: CaseOpsConfig['retention'], tenant: string): RetentionPolicy {
  return Object.hasOwn(tenants, tenant) ? (tenants[tenant] ?? {}) : every;
}

function teamStores(directory: string): readonly NamedStore[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .toSorted()
    .filter((team) => existsSync(join(directory, team, TEAM_DATABASE)))
    .map((team) => {
      const store = openOwnStore(join(directory, team), TEAM_DATABASE);
      return { name: team, store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
    });
}
