/** Opens the database file: settings for durability, migrations, and refusals a person can act on. */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CaseOpsError } from '#contracts/error.ts';
import { migrateDatabase, pragma } from './migrate-database.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import { storeError } from './sqlite-error.ts';

/** How long a write waits for another process's transaction, in ms. */
const BUSY_TIMEOUT_MS = 5_000;
const PAGE_BYTES = 4_096;

export interface DatabaseOptions {
  readonly path: string;
  /** The file may not grow beyond this; undefined means until the disk is full. */
  readonly sizeBytesMax: number | undefined;
  /** Leaves the tables as they are: for who migrates. */
  readonly asItIs?: boolean;
}

/**
 * Opens or creates the database and brings it to this version's tables. `:memory:` is a database of this process alone.
 * Throws ERR_STORE when the directory is missing or read-only, the file is no database, damaged, another program's or newer than
 * this program.
 */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  const { path } = options;
  if (path !== ':memory:') assertPlace(path);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    assertOurs(db, path);
    // FULL: a commit that was acknowledged survives a power cut, not only the end of this process.
    db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
    if (options.sizeBytesMax !== undefined)
      db.exec(`pragma max_page_count = ${Math.max(1, Math.floor(options.sizeBytesMax / PAGE_BYTES))}`);
    if (options.asItIs !== true) migrateDatabase(db, path, { to: MIGRATIONS.length });
    return db;
  } catch (error) {
    db?.close();
    throw storeError(error, path);
  }
}

function assertPlace(path: string): void {
  const directory = dirname(resolve(path));
  if (!existsSync(directory))
    throw refusal(path, `cannot be opened: its directory ${directory} does not exist; create it or name another path`);
  if (existsSync(path) && statSync(path).isDirectory())
    throw refusal(path, 'is a directory; name a file inside it, such as caseops.db');
}

/** A database with tables and without our mark belongs to another program. */
function assertOurs(db: DatabaseSync, path: string): void {
  const id = pragma(db, 'application_id');
  const { tables } = db.prepare('select count(*) as tables from sqlite_schema').get() as { readonly tables: number };
  if (id !== APPLICATION_ID && tables > 0)
    throw refusal(path, 'belongs to another program; name another path, nothing was changed');
}

function refusal(path: string, what: string): CaseOpsError {
  return new CaseOpsError('ERR_STORE', `The store ${path} ${what}.`, {
    at: 'store',
    detail: { path },
    retryable: false,
  });
}
