/** The drafts that the notification team keeps: one SQLite file that it writes, and that whoever sends a notice reads as it is now. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface Draft {
  readonly draft_id: string;
  readonly claim_id: string;
  readonly member_id: string;
  readonly subject: string;
  readonly body: string;
}

export interface KeptDraft {
  readonly version: string;
  readonly draft: Draft;
}

export interface DraftStore {
  /** Keeps a draft under its id; the same text keeps its version, another text is the next one. */
  keep(tenant: string, draft: Draft): KeptDraft;
}

/** Opens `<directory>/drafts.db`, for the team that owns it. */
export function openDrafts(directory: string): DraftStore {
  mkdirSync(directory, { recursive: true });
  const database = open(directory);
  database.exec(`
    pragma journal_mode = wal; pragma synchronous = full;
    create table if not exists draft (tenant text, id text, revision integer not null, data text not null, primary key (tenant, id)) strict, without rowid;
  `);
  const write = database.prepare(
    `insert into draft values (?1, ?2, 1, ?3)
     on conflict (tenant, id) do update set revision = revision + 1, data = ?3 where data <> ?3`,
  );
  return {
    keep: (tenant, draft) => {
      write.run(tenant, draft.draft_id, JSON.stringify(draft));
      return read(database, tenant, draft.draft_id) ?? { version: 'd1', draft };
    },
  };
}

/** The draft as it is now; undefined when there is none. */
export function readDraft(directory: string, tenant: string, draftId: string): KeptDraft | undefined {
  if (!existsSync(join(directory, 'drafts.db'))) return undefined;
  const database = open(directory);
  try {
    return read(database, tenant, draftId);
  } finally {
    database.close();
  }
}

function open(directory: string): DatabaseSync {
  return new DatabaseSync(join(directory, 'drafts.db'), { timeout: 2_000 });
}

function read(database: DatabaseSync, tenant: string, draftId: string): KeptDraft | undefined {
  const row = database.prepare('select revision, data from draft where tenant = ? and id = ?').get(tenant, draftId);
  if (row === undefined) return undefined;
  return { version: `d${String(row['revision'])}`, draft: JSON.parse(String(row['data'])) as Draft };
}
