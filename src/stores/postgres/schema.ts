/** The tables of the Postgres store, by version. A migration is added at the end and never changed. Source: DESIGN §4. */
import type { Migration } from '../migration.ts';
import { tables } from './migrations/0001-tables.ts';
import { statements } from './migrations/0002-statements.ts';
import { rowSecurity } from './migrations/0003-row-security.ts';
import { quotas } from './migrations/0004-quotas.ts';

/** Applied in order; `caseops.schema_version` says which. */
export const MIGRATIONS: readonly Migration[] = [tables, statements, rowSecurity, quotas];
