/** Brings a database's tables to a version, forward or back, in one transaction. Source: issue "migrations forward and back". */
import type { DatabaseSync } from 'node:sqlite';
import { migrationPath, type MigrationStep, type MigrationWish, statementsOf } from '../migration-path.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

/**
 * The steps that were taken, or with `dryRun` would be; none when the database is at `to`. A failure leaves everything as it was. Of two
 * processes that start at once one migrates and the other finds it done. Throws ERR_STORE when the database is newer than this program.
 */
export function migrateDatabase(
  db: DatabaseSync,
  path: string,
  { to, dryRun = false, lossAllowed = false }: MigrationWish,
): readonly MigrationStep[] {
  const place = { place: path, known: MIGRATIONS, lossAllowed };
  if (dryRun || pragma(db, 'user_version') === to) return migrationPath(place, pragma(db, 'user_version'), to);
  // Another process waits here until ours is done, and then reads the version that we left.
  db.exec('begin immediate');
  try {
    const from = pragma(db, 'user_version');
    const steps = migrationPath(place, from, to);
    db.exec(SCHEMA_VERSION);
    const note = db.prepare('insert or ignore into schema_version (version, title) values (?, ?)');
    const strike = db.prepare('delete from schema_version where version = ?');
    // A database of before this table has its versions all the same.
    for (const { version, title } of MIGRATIONS.slice(0, from)) note.run(version, title);
    for (const step of steps) {
      db.exec(statementsOf(step));
      if (step.direction === 'up') note.run(step.migration.version, step.migration.title);
      else strike.run(step.migration.version);
    }
    db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${to}; commit`);
    return steps;
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}

const SCHEMA_VERSION = `create table if not exists schema_version (
  version integer primary key,
  title text not null,
  applied_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) strict`;

/** A number that SQLite keeps in the file's header. */
export function pragma(db: DatabaseSync, name: 'application_id' | 'user_version'): number {
  const row = db.prepare(`pragma ${name}`).get() as Readonly<Record<string, number>>;
  return row[name] ?? 0;
}
