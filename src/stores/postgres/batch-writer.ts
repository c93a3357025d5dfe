/**
 * Group commit: units that wait for each other are written by one statement in one round trip, which stands or falls as a whole. A batch
 * that fell is looked at unit by unit: those that something stored is in the way of are refused, the others are written without them.
 * Source: ENGINE lesson 1.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { CommitOutcome } from '#ports/store.ts';
import { batchValues, type Unit, WRITE_BATCH } from './batch.ts';
import { foldLedger, hasLedgerEvents, readLedger } from './ledger-fold.ts';
import { closedError, type Line, type Statement } from './line.ts';
import type { Place } from './place.ts';
import { codeOf, storeError } from './postgres-error.ts';
import { findRefusal } from './refusals.ts';

/** Units in one batch at most; the rest waits for the next. */
const BATCH_UNIT_COUNT_MAX = 512;
/** Bytes of artifacts in one batch at most, if it holds more than one unit. */
const BATCH_ARTIFACT_BYTES_MAX = 8_388_608;
/** Units waiting at most; more are refused with ERR_STORE, which is retryable. */
const QUEUE_UNIT_COUNT_MAX = 20_000;
/** A unit alone that fails without anything stored in its way: another process writes the same at the same moment. */
const ALONE_TRIES_MAX = 10;

export interface BatchWriter {
  /**
   * Resolves after the unit is durable or refused. `after` is called once it is durable, before the promise resolves. Rejects with
   * ERR_STORE: then nothing of the unit was acknowledged.
   */
  write(unit: Waiting): Promise<CommitOutcome>;
  /** Writes what waits, then refuses more. */
  close(): Promise<void>;
}

type Waiting = Pick<Unit, 'commit' | 'records'> & { readonly after?: () => void };

interface Queued {
  readonly unit: Waiting;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: CaseOpsError) => void;
}

export interface BatchWriterOptions {
  readonly place: Place;
  /** Connections that write, each a batch at a time. */
  readonly writing: readonly Line[];
  /** For what is read before and after a batch. */
  readonly reading: Line;
}

/** Starts empty. */
export function createBatchWriter(options: BatchWriterOptions): BatchWriter {
  const { place } = options;
  const idle = options.writing.map((line) => createSender(line, options));
  const busy = new Set<Promise<void>>();
  let queue: Queued[] = [];
  let armed = false;
  let closed = false;

  const flush = (): void => {
    armed = false;
    for (;;) {
      const send = queue.length === 0 ? undefined : idle.pop();
      if (send === undefined) return;
      const batch = queue.slice(0, batchCount(queue));
      queue = queue.slice(batch.length);
      const work = send(batch).finally(() => {
        busy.delete(work);
        idle.push(send);
        flush();
      });
      busy.add(work);
    }
  };

  return {
    write: (unit) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(closedError(place));
        if (queue.length >= QUEUE_UNIT_COUNT_MAX) return reject(fullError(place, queue.length));
        queue.push({ unit, resolve, reject });
        // What is written in this turn of the event loop shares a batch.
        if (!armed) setImmediate(flush);
        armed = true;
      }),
    close: async () => {
      closed = true;
      flush();
      while (busy.size > 0) await Promise.all(busy);
    },
  };
}

function batchCount(queue: readonly Queued[]): number {
  let bytes = 0;
  for (const [index, { unit }] of queue.entries()) {
    for (const record of unit.records) if (record.table === 'artifact') bytes += record.bytes.byteLength;
    if (index > 0 && (index >= BATCH_UNIT_COUNT_MAX || bytes > BATCH_ARTIFACT_BYTES_MAX)) return index;
  }
  return queue.length;
}

type Send = (batch: readonly Queued[]) => Promise<void>;

/** Never rejects: each unit is told how it went. */
function createSender(line: Line, { place, reading }: BatchWriterOptions): Send {
  const write = createWrite(line);
  const send = async (batch: readonly Queued[], tries: number): Promise<void> => {
    try {
      await write(await foldUnits(reading, batch));
    } catch (error) {
      if (!isOfOneUnit(error) || tries >= ALONE_TRIES_MAX) return rejectAll(batch, storeError(error, place.name));
      const rest = await refuse(reading, batch);
      // Two of the batch are in each other's way, or one is at fault: one after the other each gets its own answer.
      if (rest.length === batch.length && batch.length > 1) for (const one of rest) await send([one], 0);
      else if (rest.length > 0) await send(rest, tries + 1);
      return;
    }
    for (const { unit, resolve } of batch) {
      unit.after?.();
      resolve({ ok: true });
    }
  };
  return async (batch) => {
    try {
      await send(batch, 0);
    } catch (error) {
      rejectAll(batch, storeError(error, place.name));
    }
  };
}

function rejectAll(batch: readonly Queued[], error: CaseOpsError): void {
  for (const { reject } of batch) reject(error);
}

/** Tells those that something stored is in the way of; returns the others. */
async function refuse(reading: Line, batch: readonly Queued[]): Promise<readonly Queued[]> {
  const refusals = await Promise.all(batch.map(({ unit }) => findRefusal(reading, unit)));
  return batch.filter(({ resolve }, index) => {
    const refusal = refusals[index];
    if (refusal !== undefined) resolve(refusal);
    return refusal === undefined;
  });
}

async function foldUnits(reading: Line, batch: readonly Queued[]): Promise<readonly Unit[]> {
  const events = batch.flatMap(({ unit: { commit } }) =>
    commit !== undefined && hasLedgerEvents(commit.events) ? commit.events : [],
  );
  const stored = events.length === 0 ? undefined : await readLedger(reading, events);
  return batch.map(({ unit: { commit, records } }) => ({
    commit,
    records,
    ...(stored === undefined || commit === undefined ? NO_ROWS : foldLedger(commit.events, stored)),
  }));
}

const NO_ROWS = { effects: [], approvals: [] };

const NEW_WRITER: Statement = { name: 'new_writer', text: 'insert into caseops.batch default values returning writer' };
const WRITTEN_BEFORE = 'CO003';

/**
 * Writes batches in order under numbers of this writer. After a lost connection the same number is sent again: the database writes it
 * once, whether the first had been written or was still being written.
 */
function createWrite(line: Line): (units: readonly Unit[]) => Promise<void> {
  let writer: string | undefined;
  let number = 0;
  return async (units) => {
    number += 1;
    await line.patiently(async (again) => {
      writer ??= (await line.once<{ readonly writer: string }>(NEW_WRITER, []))[0]?.writer;
      try {
        await line.once(WRITE_BATCH, batchValues(writer ?? '', number, units));
      } catch (error) {
        if (!(again && codeOf(error) === WRITTEN_BEFORE)) throw error;
      }
    });
  };
}

/** True when one unit of a batch is at fault, or in another's way, and not the database: the others can still be written. */
function isOfOneUnit(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  // Integrity, data, a run moved on or a use too many; deadlock and serialization with another process.
  return /^(23|22|CO00[124]|40)/.test(code);
}

function fullError({ name }: Place, waitingCount: number): CaseOpsError {
  const message = `The store ${name} has ${waitingCount} writes waiting, which is its limit; try again when the load is lower.`;
  return new CaseOpsError('ERR_STORE', message, { at: 'store', detail: { store: name }, retryable: true });
}
