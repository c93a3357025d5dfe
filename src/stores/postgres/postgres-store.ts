/**
 * The store of several processes: Postgres through `pg`. The same promises as the embedded one; rows of a tenant are seen and written
 * only by statements that name it, which the database enforces. Source: DESIGN §4, ENGINE "Production". Passes the store suite.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';
import { assertCommit, assertRecordSizes } from '../commit-check.ts';
import { createListeners } from '../commit-listeners.ts';
import { createBatchWriter } from './batch-writer.ts';
import { createErasing } from './erase-run.ts';
import { createLedgerReads } from './ledger-reads.ts';
import { createLine, type LineOptions } from './line.ts';
import { asOwner, databaseVersion, migrateDatabase } from './migrate-database.ts';
import { type Place, placeOf } from './place.ts';
import { createRecordReads, createRunReads } from './reads.ts';
import { APP_ROLE } from './role.ts';
import { createRunLocks } from './run-lock.ts';
import { MIGRATIONS } from './schema.ts';

export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Said nowhere else: messages name host, port and database only. */
  readonly url: string;
  /** Decides when a run lock has expired. */
  readonly clock: Clock;
  /** Brings the tables to this program's version. Default true; false refuses a database of another version. */
  readonly migrate?: boolean;
  /** How long a statement waits for a server that went away before it fails, in ms. Default 30,000. */
  readonly outageMsMax?: number;
  /** Connections that write. Default 2: while one waits for the disk the other works. */
  readonly writerCount?: number;
}

const OUTAGE_MS_MAX = 30_000;
const WRITER_COUNT = 2;

/**
 * Opens the store. Throws ERR_STORE with a sentence that says what to do: no server, no right, another version, a user whom row security
 * does not bind. Afterwards a server that goes away is waited for; a write whose answer was lost is written once all the same.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock } = options;
  const place = placeOf(options.url);
  if (options.migrate ?? true) await migrateDatabase(place, { to: MIGRATIONS.length });
  else await assertVersion(place);
  const role = await boundRole(place);
  const outageMsMax = options.outageMsMax ?? OUTAGE_MS_MAX;
  const settings = { ...SETTINGS, ...(role === undefined ? {} : { role }) };
  const lineOptions: LineOptions = { place, clock, settings, outageMsMax };
  const reading = createLine(lineOptions);
  const locking = createLine(lineOptions);
  const writing = Array.from({ length: options.writerCount ?? WRITER_COUNT }, () =>
    createLine({ ...lineOptions, settings: { ...settings, ...WRITER_SETTINGS } }),
  );
  const writer = createBatchWriter({ place, writing, reading });
  const listeners = createListeners();
  return {
    ...createRunReads(reading),
    ...createRecordReads(reading),
    ...createLedgerReads(reading),
    ...createRunLocks(locking, clock),
    ...createErasing(locking, listeners),
    commit: async (commit) => {
      assertCommit(commit);
      return writer.write({
        commit,
        records: commit.records,
        after: () => listeners.tell(commit.events, commit.head),
      });
    },
    write: async (records) => {
      assertRecordSizes(records);
      return writer.write({ commit: undefined, records });
    },
    onCommit: listeners.add,
    [Symbol.asyncDispose]: async () => {
      await writer.close();
      await Promise.all([reading, locking, ...writing].map((line) => line[Symbol.asyncDispose]()));
    },
  };
}

/** A commit that was acknowledged survives a power cut, whatever the server's own default says. */
const SETTINGS = { synchronous_commit: 'on', 'caseops.tenants': '' };
/** A plan made while the tables were small must not stay when they are large: by key is right for a batch at every size. */
const WRITER_SETTINGS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

async function assertVersion(place: Place): Promise<void> {
  const version = await databaseVersion(place);
  if (version === MIGRATIONS.length) return;
  throw refusal(
    place,
    `has version ${version} and this program needs ${MIGRATIONS.length}; run \`caseops db migrate\` first, or start the program of that version`,
  );
}

/** The role to act as; undefined when the user of the url is bound by row security as it is. */
async function boundRole(place: Place): Promise<string | undefined> {
  const { rows } = await asOwner(place, (client) =>
    client.query<{ readonly member: boolean; readonly unbound: boolean }>(
      `select rolsuper or rolbypassrls as unbound,
         exists (select from pg_roles where rolname = $1) and pg_has_role(current_user, (select oid from pg_roles where rolname = $1), 'member')
           as member
       from pg_roles where rolname = current_user`,
      [APP_ROLE],
    ),
  );
  if (rows[0]?.member === true) return APP_ROLE;
  if (rows[0]?.unbound === false) return undefined;
  throw refusal(
    place,
    `is reached as a user whom row security does not bind; make the role ${APP_ROLE} (create role ${APP_ROLE} nologin) and migrate again, or name another user in the url`,
  );
}

function refusal({ name }: Place, what: string): CaseOpsError {
  return new CaseOpsError('ERR_STORE', `The store ${name} ${what}.`, {
    at: 'store',
    detail: { store: name },
    retryable: false,
  });
}
