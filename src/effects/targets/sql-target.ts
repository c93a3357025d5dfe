/**
 * Writes a versioned row of a database: the key, the version compare and the change are one transaction, so the database itself is the
 * owner that keeps all three promises. Source: DESIGN §3.10; INV-12.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type {
  Applied,
  AppliedEffect,
  ApplyRequest,
  EffectJson,
  EffectParameters,
  EffectTarget,
  LiveRecord,
  PostconditionFinding,
  ReadBack,
} from '#ports/effect-target.ts';
import { z } from 'zod';
import { contentDigestOf } from './content-digest.ts';
import { fieldFindings } from './field-findings.ts';
import { parseParameters } from './parse-parameters.ts';
import type { SqlEnd, SqlSession, SqlTransaction } from './sql-session.ts';
import { sqlStatements, type SqlStatements, type SqlTable } from './sql-statements.ts';

export interface SqlTargetOptions {
  readonly name: string;
  readonly action: string;
  readonly resourceType: string;
  readonly evidenceType: string;
  /** A strict object whose values are strings, numbers or null: one per column, and what is only shown. */
  readonly parameters: z.ZodType;
  readonly presentational: readonly string[];
  readonly table: SqlTable;
  readonly session: SqlSession;
  readonly clock: Clock;
}

const effectRow = z.object({
  content: z.string(),
  reference: z.string(),
  row_id: z.string(),
  version: z.coerce.number(),
  applied_at: z.string(),
  parameters: z.string(),
});
type SqlEffect = z.infer<typeof effectRow>;

const scalar = z.union([z.string(), z.number(), z.null()]);
const columnValues = z.record(z.string(), scalar);
const parameterObject = z.record(z.string(), z.json());

interface Parts {
  readonly options: SqlTargetOptions;
  readonly statements: SqlStatements;
  readonly ready: () => Promise<void>;
}

/** The table exists; the one beside it, `<table>_effect`, is created. Throws ERR_CONFIG for names that are no identifiers. */
export function createSqlTarget(options: SqlTargetOptions): EffectTarget {
  const { name, action, resourceType, evidenceType, presentational, session } = options;
  const statements = sqlStatements(options.table, session.dialect);
  const parts: Parts = { options, statements, ready: createOnce(session, statements) };
  return {
    name,
    action,
    resourceType,
    evidenceType,
    presentational,
    precondition: 'owner',
    authoritativeAbsence: true,
    validate: (value) => parseParameters(options.parameters, value),
    read: (resource, tenant) => readLive(parts, resource, tenant),
    apply: (request) => apply(parts, request),
    readBack: (key, { tenant }) => readEffect(parts, key, tenant),
    postcondition: sqlPostcondition,
  };
}

function createOnce(session: SqlSession, { createEffects }: SqlStatements): () => Promise<void> {
  let created = false;
  return async () => {
    if (created) return;
    const end = await session.transact(async (transaction) => {
      await transaction.run(createEffects, []);
      return { keep: true, value: undefined };
    });
    created = end.end === 'committed';
  };
}

const idOf = (resource: string): string => resource.slice(resource.indexOf(':') + 1);
const versionText = (version: unknown): string => `v${String(Number(version))}`;

/** Throws ERR_STORE when the database cannot be asked. */
async function readLive({ options, statements }: Parts, resource: string, tenant: string): Promise<LiveRecord> {
  const end = await options.session.transact(async (transaction) => ({
    keep: false,
    value: await liveRow({ options, statements }, transaction, { tenant, id: idOf(resource) }),
  }));
  if ('value' in end) return end.value;
  throw new CaseOpsError('ERR_STORE', `The database cannot be asked for ${resource}: ${end.reason}.`, {
    at: 'effects',
  });
}

async function liveRow(
  { options: { table }, statements }: Pick<Parts, 'options' | 'statements'>,
  transaction: SqlTransaction,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<LiveRecord> {
  const [row] = await transaction.all(statements.findRow, [tenant, id]);
  if (row === undefined) return { version: null, record: null };
  const record = Object.fromEntries(table.columns.map((column) => [column, scalar.parse(row[column])]));
  return { version: versionText(row[table.versionColumn]), record };
}

async function apply(parts: Parts, request: ApplyRequest): Promise<Applied> {
  const values = columnValues.safeParse(request.action.parameters);
  const columns = parts.options.table.columns.map((column) => values.data?.[column]);
  if (columns.some((value) => value === undefined))
    return refused('The parameters are not one value per column.', false);
  await parts.ready();
  const end = await parts.options.session.transact((transaction) =>
    applyIn(parts, transaction, { request, columns: columns.map((value) => value ?? null) }),
  );
  return outcomeOf(end);
}

interface Write {
  readonly request: ApplyRequest;
  readonly columns: readonly (string | number | null)[];
}

/** Claims the key, then compares and writes; whatever is refused rolls the claim back. */
async function applyIn(
  parts: Parts,
  transaction: SqlTransaction,
  { request, columns }: Write,
): Promise<{ readonly keep: boolean; readonly value: Applied }> {
  const { statements, options } = parts;
  const { action, idempotencyKey, expectedVersion } = request;
  const id = idOf(action.resource);
  const content = contentDigestOf(action);
  const before = expectedVersion === null ? 0 : Number(/^v(\d{1,15})$/.exec(expectedVersion)?.[1] ?? Number.NaN);
  const reference = `${options.table.name}-${digestOf([action.tenant, idempotencyKey]).slice(7, 19)}`;
  const parameters = canonicalText(action.parameters) ?? '';
  const key = [action.tenant, idempotencyKey] as const;
  const claimed = await transaction.run(statements.insertEffect, [
    ...key,
    content,
    reference,
    id,
    Number.isNaN(before) ? 0 : before + 1,
    options.clock.now(),
    parameters,
  ]);
  if (claimed === 0) {
    const [first] = await transaction.all(statements.findEffect, key);
    const same = first?.['content'] === content;
    return {
      keep: false,
      value: same ? { outcome: 'applied' } : refused('The key was used for something else.', false),
    };
  }
  const at = [action.tenant, id] as const;
  const written =
    expectedVersion === null
      ? await transaction.run(statements.insertRow, [...at, ...columns])
      : await transaction.run(statements.updateRow, [...columns, ...at, Number.isNaN(before) ? -1 : before]);
  if (written === 1) return { keep: true, value: { outcome: 'applied' } };
  const { version } = await liveRow(parts, transaction, { tenant: action.tenant, id });
  const message = `The row is at ${version ?? 'no version'}, not at ${expectedVersion ?? 'none'}.`;
  return { keep: false, value: { outcome: 'precondition_failed', currentVersion: version, message } };
}

function outcomeOf(end: SqlEnd<Applied>): Applied {
  switch (end.end) {
    case 'committed':
    case 'rolled_back':
      return end.value;
    case 'failed':
      return refused(`The database did not take it: ${end.reason}.`, true);
    case 'unknown':
      return { outcome: 'unknown', message: `The commit failed: ${end.reason}.` };
  }
}

function refused(message: string, retryable: boolean): Applied {
  return { outcome: 'refused_before', message, retryable };
}

async function readEffect(parts: Parts, key: string, tenant: string): Promise<ReadBack> {
  await parts.ready();
  const end = await parts.options.session.transact(async (transaction) => {
    const [row] = await transaction.all(parts.statements.findEffect, [tenant, key]);
    if (row === undefined) return { keep: false, value: undefined };
    const effect = effectRow.parse(row);
    return { keep: false, value: { effect, now: await liveRow(parts, transaction, { tenant, id: effect.row_id }) } };
  });
  if (!('value' in end)) return { found: 'hidden', message: `The database cannot be asked: ${end.reason}.` };
  return end.value === undefined ? { found: 'absent' } : shownEffect(end.value.effect, end.value.now);
}

function shownEffect(effect: SqlEffect, live: LiveRecord): ReadBack {
  const version = versionText(effect.version);
  const parameters = parameterObject.parse(JSON.parse(effect.parameters));
  const now: EffectJson = live.version === version ? live.record : null;
  return {
    found: 'applied',
    reference: effect.reference,
    version,
    appliedAt: effect.applied_at,
    record: { row_id: effect.row_id, parameters, now },
    data: { ...parameters, reference: effect.reference, version },
  };
}

const shownRecord = z.object({ row_id: z.string(), parameters: parameterObject, now: parameterObject.nullable() });

/** By the record under the key, and by the row itself while nobody has changed it since. */
function sqlPostcondition(action: EffectAction, applied: AppliedEffect): readonly PostconditionFinding[] {
  const parsed = shownRecord.safeParse(applied.record);
  if (!parsed.success) return [{ pointer: '', expected: 'an effect record', got: 'another record' }];
  const { row_id, parameters, now } = parsed.data;
  const wanted = idOf(action.resource);
  return [
    ...(row_id === wanted ? [] : [{ pointer: '/row_id', expected: wanted, got: row_id }]),
    ...fieldFindings(action.parameters, parameters, '/parameters'),
    ...(now === null ? [] : fieldFindings(ofColumns(action.parameters, now), now, '/now')),
  ];
}

/** The approved parameters that the row has a column for. */
function ofColumns(parameters: EffectParameters, row: EffectParameters): EffectParameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => Object.hasOwn(row, name)));
}
