/**
 * The database's tables, by version. A migration is added at the end and never changed. Every table is strict; keys are (tenant, id).
 * Source: DESIGN §4.
 */
import type { Migration } from '../migration.ts';
import { runs } from './migrations/0001-runs.ts';
import { ledger } from './migrations/0002-ledger.ts';
import { tenantKeys } from './migrations/0003-tenant-keys.ts';
import { eventBatches } from './migrations/0004-event-batches.ts';
import { quotas } from './migrations/0005-quotas.ts';

/** `user_version` n means that the first n migrations were applied. */
export const MIGRATIONS: readonly Migration[] = [runs, ledger, tenantKeys, eventBatches, quotas];

/** Marks the file as ours ("CaOp"), so that another program's database is never written to. */
export const APPLICATION_ID = 0x43_61_4f_70;
