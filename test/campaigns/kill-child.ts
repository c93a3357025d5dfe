/** The supervisor of the kill campaign: the claims case as it ships, with its team processes; says how to reach it, then waits to be killed. */
import { createCaseOps } from '#runtime/create-case-ops.ts';
import { postgresStore } from '#stores/postgres/postgres-opener.ts';
import type { Store, StoreOpener } from '#ports/store.ts';
import { claimsCase } from '../../cases/claims/case.ts';

export interface KillChildOrder {
  readonly directory: string;
  /** Undefined: SQLite in the directory. */
  readonly postgresUrl: string | undefined;
  /** Of a Postgres store: the commit at which to die. SQLite is stopped by what is loaded before. */
  readonly commit: { readonly nth: number; readonly when: 'before' | 'after' } | undefined;
}

export interface KillChildReady {
  readonly url: string;
  readonly tokens: Readonly<Record<string, string>>;
  readonly teams: readonly { readonly name: string; readonly pid: number }[];
}

const order = JSON.parse(process.argv.at(-1) ?? '') as KillChildOrder;
const { directory, postgresUrl, commit } = order;
const store = postgresUrl === undefined ? undefined : stopped(postgresStore({ url: postgresUrl }));
const system = await createCaseOps({
  case: claimsCase,
  directory,
  config: false,
  ...(store === undefined ? {} : { store }),
});
const ready: KillChildReady = { url: system.url, tokens: system.tokens, teams: system.teams };
process.stdout.write(`${JSON.stringify(ready)}\n`);
await new Promise(() => undefined);

function stopped(open: StoreOpener): StoreOpener {
  return async (clock) => {
    const inner = await open(clock);
    let commitCount = 0;
    const die = (): void => void process.kill(process.pid, 'SIGKILL');
    const wrapped: Store = {
      ...inner,
      commit: async (unit) => {
        commitCount += 1;
        const here = commitCount === commit?.nth;
        if (here && commit?.when === 'before') die();
        const outcome = await inner.commit(unit);
        if (here && commit?.when === 'after') die();
        return outcome;
      },
    };
    return wrapped;
  };
}
