/**
 * One connection that is there when it is needed: made on first use, made again after it was lost, shared by many statements, which
 * follow each other without waiting for answers. Each statement is a transaction that names whose rows it is about.
 */
import pg from 'pg';
import { CaseOpsError } from '#contracts/error.ts';
import type { Tenant } from '#contracts/ids.ts';
import type { Clock } from '#ports/clock.ts';
import { type Place, withSettings } from './place.ts';
import { isConnectionLoss, storeError } from './postgres-error.ts';

/** A statement of ours: prepared once on each connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Scope = readonly Tenant[] | 'every tenant';

export interface Line extends AsyncDisposable {
  /**
   * The rows of one statement in a transaction of its own that sees `scope` only. A lost connection is made again and the statement is
   * repeated, so it must be one that can be: `again` tells it. Rejects with ERR_STORE.
   */
  run<Row>(scope: Scope, statement: Statement, values: (again: boolean) => readonly unknown[]): Promise<readonly Row[]>;
  /** One statement that names its tenants itself, as it is. Rejects with what Postgres says, also when the connection is lost. */
  once<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Repeats `work` while the connection is lost, for a bounded time. */
  patiently<T>(work: (again: boolean) => Promise<T>): Promise<T>;
}

export interface LineOptions {
  readonly place: Place;
  readonly clock: Clock;
  /** Settings of the connection, such as its role. */
  readonly settings: Readonly<Record<string, string>>;
  /** How long a lost connection is tried again before a statement fails. */
  readonly outageMsMax: number;
}

const CONNECT_MS_MAX = 10_000;
const AGAIN_MS_FIRST = 20;
const AGAIN_MS_MAX = 500;
const TENANT = /^[a-z][a-z0-9-]*$/;

/** Connects when first asked for something. */
export function createLine(options: LineOptions): Line {
  const { place } = options;
  const connections = createConnections(options);
  const once: Line['once'] = async <Row>({ name, text }: Statement, values: readonly unknown[]) => {
    const client = await connections.get();
    const { rows } = await client.query({ name, text, values: [...values] });
    return rows as readonly Row[];
  };
  const inScope = async <Row>(scope: Scope, { name, text }: Statement, values: readonly unknown[]) => {
    const client = await connections.get();
    // Sent together: what fails in between leaves nothing, since the commit then takes back.
    const [begun, asked, ended] = await Promise.allSettled([
      client.query(`begin; set local caseops.tenants = '${listOf(scope)}'`),
      client.query({ name, text, values: [...values] }),
      client.query('commit'),
    ]);
    if (begun.status === 'rejected') throw begun.reason;
    if (asked.status === 'rejected') throw asked.reason;
    if (ended.status === 'rejected') throw ended.reason;
    return asked.value.rows as readonly Row[];
  };
  const patiently = createPatience(options);
  return {
    once,
    patiently,
    run: async (scope, statement, values) => {
      try {
        return await patiently((again) => inScope(scope, statement, values(again)));
      } catch (error) {
        throw storeError(error, place.name);
      }
    },
    [Symbol.asyncDispose]: () => connections.close(),
  };
}

/** As `caseops.tenants` has it. */
export function listOf(scope: Scope): string {
  if (scope === 'every tenant') return '*';
  const strange = scope.find((tenant) => !TENANT.test(tenant));
  if (strange !== undefined)
    throw new CaseOpsError('ERR_INVARIANT', 'A statement names a tenant that is no tenant name.', { at: 'store' });
  return scope.join(',');
}

function createPatience({ clock, outageMsMax }: LineOptions): Line['patiently'] {
  return async (work) => {
    const untilMs = clock.nowMs() + outageMsMax;
    for (let tries = 0; ; tries++) {
      try {
        return await work(tries > 0);
      } catch (error) {
        if (!isConnectionLoss(error) || clock.nowMs() >= untilMs) throw error;
        await clock.sleep(Math.min(AGAIN_MS_FIRST * 2 ** Math.min(tries, 10), AGAIN_MS_MAX));
      }
    }
  };
}

interface Connections {
  get(): Promise<pg.Client>;
  close(): Promise<void>;
}

function createConnections({ place, settings }: LineOptions): Connections {
  let current: Promise<pg.Client> | undefined;
  let closed = false;
  const connect = (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: withSettings(place, settings),
      application_name: 'caseops',
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      pipeline: true,
    });
    const connection = client.connect().then(() => client);
    const forget = (): void => {
      if (current === connection) current = undefined;
    };
    // Each statement under way is told by itself; what is left is to make another connection.
    client.on('error', forget);
    client.on('end', forget);
    connection.catch(forget);
    current = connection;
    return connection;
  };
  return {
    get: () => {
      if (closed) return Promise.reject(closedError(place));
      return current ?? connect();
    },
    close: async () => {
      closed = true;
      const client = await current?.catch(() => undefined);
      await client?.end().catch(() => undefined);
    },
  };
}

/** The store was closed by its own process. */
export function closedError({ name }: Place): CaseOpsError {
  return new CaseOpsError('ERR_STORE', `The store ${name} is closed; nothing was read or written.`, {
    at: 'store',
    detail: { store: name },
    retryable: false,
  });
}
