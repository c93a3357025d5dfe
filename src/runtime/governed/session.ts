/**
 * The run behind a program's calls: opened on first use, written one command at a time, ended when the program closes it. It holds
 * what `governedEffect` needs beside it: store, driver, clock, ids, grant and purpose. Source: docs/decisions/0010.
 */
import type { GovernedOrigin } from '#contracts/call-events.ts';
import type { CommandOf, RunRef } from '#contracts/command.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { StepId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { errorOf } from '#control/refusal.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createEvidenceBinder, type EvidenceBinder } from '#execution/evidence-binder.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Clock } from '#ports/clock.ts';
import type { Driver } from '#ports/driver.ts';
import type { Ids } from '#ports/ids.ts';
import type { RecordWrite, Store } from '#ports/store.ts';
import type { PolicyRow } from '#ports/team-definition.ts';
import { createToolDoor, type ToolDoor } from './tool-door.ts';

export interface SessionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly grant: RootGrant;
  readonly workload: string;
  readonly purpose: string;
  readonly toolCallCountMax: number;
  readonly prohibitedActions: readonly string[];
  readonly policy: readonly PolicyRow[] | undefined;
}

type CallCommand = 'adoptTool' | 'permitCall' | 'refuseCall' | 'settleCall' | 'closeCalls';
type CallBody = { [K in CallCommand]: Omit<CommandOf<K>, 'at' | 'actor'> }[CallCommand];

export interface GovernedSession {
  readonly options: SessionOptions;
  readonly ref: RunRef;
  readonly driver: Driver<RunState>;
  readonly door: ToolDoor;
  readonly binder: EvidenceBinder;
  /** Aborted when the session closes. */
  readonly signal: AbortSignal;
  /** The name of the next call: `c1`, `c2`, … */
  nextStep(): StepId;
  /** Decides and writes one command. Throws the CaseOpsError of a refusal. */
  tell(command: CallBody, records?: readonly RecordWrite[]): Promise<RunState>;
  /** Runs a call; closing waits for it. Throws ERR_CANCELLED once the session is closing. */
  during<T>(call: () => Promise<T>): Promise<T>;
  /** Evidence of the settled calls, once per source, anchor and version. */
  observed(): readonly Evidence[];
  events(): Promise<readonly RunEvent[]>;
  close(): Promise<void>;
}

const EVENT_PAGE_COUNT = 1_000;

export function openSession(options: SessionOptions): GovernedSession {
  const { store, clock, ids, workload, grant } = options;
  const ref: RunRef = { tenant: grant.tenant, runId: ids.next('run') };
  const driver = createLocalDriver({ store, clock, ids, owner: workload });
  const origin = originOf(options);
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const told: { state: RunState | undefined } = { state: undefined };
  const tell = createTelling({ options, driver, ref, origin, told });
  let stepCount = 0;
  let closed: Promise<void> | undefined;
  return {
    options,
    ref,
    driver,
    tell,
    door: createToolDoor({ ...options, runId: ref.runId, authorityDigest: digestOf(origin) }),
    binder: createEvidenceBinder(ids),
    signal: closing.signal,
    nextStep: () => `c${++stepCount}`,
    during: (call) => {
      if (closing.signal.aborted) return Promise.reject(closedError(ref));
      const running = call();
      underWay.add(running);
      const over = (): void => void underWay.delete(running);
      running.then(over, over);
      return running;
    },
    observed: () => [...(told.state?.evidence.values() ?? [])],
    events: () => readEvents(store, ref),
    close: () =>
      (closed ??= (async () => {
        closing.abort(closedError(ref));
        await Promise.allSettled(underWay);
        await tell({ kind: 'closeCalls' });
        await driver[Symbol.asyncDispose]();
      })()),
  };
}

/** Nothing of what it says is a secret: it is the first event of the log. */
function originOf({
  grant,
  workload,
  purpose,
  toolCallCountMax,
  prohibitedActions,
  policy,
}: SessionOptions): GovernedOrigin {
  return {
    level: 'governed',
    requestedBy: grant.sub,
    workload,
    purpose,
    actions: [...grant.actions],
    prohibitedActions: [...prohibitedActions],
    toolCallCountMax,
    policyDigest: digestOf((policy ?? []).map((row) => ({ ...row, tenants: [...row.tenants] }))),
  };
}

interface Telling {
  readonly options: SessionOptions;
  readonly driver: Driver<RunState>;
  readonly ref: RunRef;
  readonly origin: GovernedOrigin;
  /** The last state that was written. */
  readonly told: { state: RunState | undefined };
}

function createTelling({ options, driver, ref, origin, told }: Telling): GovernedSession['tell'] {
  const { clock, workload, purpose } = options;
  const deliver: GovernedSession['tell'] = async (command, records = []) => {
    const delivered = await driver.deliver(ref, { ...command, at: clock.now(), actor: workload }, records);
    if (!delivered.ok) throw errorOf(delivered.error);
    told.state = delivered.state;
    return delivered.state;
  };
  let opened: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    const delivered = await driver.deliver(ref, {
      kind: 'receive',
      at: clock.now(),
      actor: workload,
      origin,
      statement: `Tool calls of ${workload} for ${purpose}.`,
      language: 'en',
      intake: { kind: 'calls' },
    });
    if (!delivered.ok) throw errorOf(delivered.error);
  };
  return async (command, records) => {
    await (opened ??= open());
    return deliver(command, records);
  };
}

async function readEvents(store: Store, ref: RunRef): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await store.events(ref, events.length, EVENT_PAGE_COUNT);
    events.push(...page);
    if (page.length < EVENT_PAGE_COUNT) return events;
  }
}

function closedError({ runId }: RunRef): CaseOpsError {
  return new CaseOpsError('ERR_CANCELLED', `The governed session ${runId} is closed.`, { at: 'tool' });
}
