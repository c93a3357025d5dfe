/**
 * Who watches a simulated world: durable events, messages, tool calls, exchanges and what the owner applied, each as it happens. Everything
 * is checked from outside against an account of its own.
 */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { LeaseClaims } from '#contracts/lease.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { ApplyRequest } from '#ports/effect-target.ts';
import type { RunHead } from '#ports/store.ts';
import type { MemoryTarget } from '../memory-effect-target.ts';
import { auditChild } from './lease-audit.ts';
import type { ProcessLife } from './process-life.ts';
import { enter, type Entries, openAccount, type RunAccount, type RunAuditOptions } from './run-account.ts';
import { auditEvent } from './run-audit.ts';
import type { Violation } from './violation.ts';

export interface Witness {
  readonly violations: readonly Violation[];
  /** By store (`supervisor` or the team's name), then run. */
  readonly accounts: ReadonlyMap<string, ReadonlyMap<string, RunAccount>>;
  readonly eventCount: number;
  readonly toolCallCount: number;
  report: RunAuditOptions['report'];
  committed(store: string, events: readonly RunEvent[], head: RunHead): void;
  dispatchSent(dispatch: Dispatch): void;
  exchanged(exchange: { readonly form: string; readonly status: number; readonly body: string }): void;
  leased(lease: { readonly life: ProcessLife; readonly leaseId: string; readonly parentId: string }): void;
  toolCalled(call: {
    readonly team: string;
    readonly life: ProcessLife;
    readonly claims: LeaseClaims;
    readonly tool: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }): void;
  effectLeased(lease: { readonly life: ProcessLife; readonly leaseId: string }): void;
  applyAsked(asked: { readonly life: ProcessLife; readonly request: ApplyRequest }): void;
  applied(owner: MemoryTarget, request: ApplyRequest): void;
}

interface Intent {
  readonly bytes: string;
  leaseId: string;
}

interface Seen {
  readonly accounts: Map<string, Map<string, RunAccount>>;
  /** Dispatch id → tenant, of sends whose dispatch is durable. */
  readonly dispatches: Map<string, string>;
  readonly leaseLife: Map<string, ProcessLife>;
  readonly intents: Map<string, Intent>;
  readonly keyOfEffect: Map<string, string>;
}

const VIOLATION_COUNT_MAX = 20;
/** In a form: a token has nothing in it that a form escapes. */
const SUBJECT_TOKEN = /(?:^|&)subject_token=([^&]+)/;

export function createWitness(options: {
  readonly now: () => string;
  readonly ownerOf: RunAuditOptions['ownerOf'];
}): Witness {
  const violations: Violation[] = [];
  const report: RunAuditOptions['report'] = (property, message) => {
    if (violations.length < VIOLATION_COUNT_MAX) violations.push({ property, message, at: options.now() });
  };
  const seen: Seen = {
    accounts: new Map(),
    dispatches: new Map(),
    leaseLife: new Map(),
    intents: new Map(),
    keyOfEffect: new Map(),
  };
  let eventCount = 0;
  let toolCallCount = 0;
  return {
    violations,
    accounts: seen.accounts,
    get eventCount() {
      return eventCount;
    },
    get toolCallCount() {
      return toolCallCount;
    },
    report,
    committed: (store, events, head) => {
      eventCount += events.length;
      committed(seen, { store, events, head }, { report, ownerOf: options.ownerOf });
    },
    dispatchSent: ({ dispatchId, runId, tenant }) => {
      if (seen.dispatches.get(dispatchId) !== tenant)
        report('INV-02', `Dispatch ${dispatchId} of ${runId} is sent for ${tenant} and is not durable.`);
    },
    exchanged: ({ form, status, body }) => {
      if (status !== 200) return;
      const child = (JSON.parse(body) as { readonly access_token: string }).access_token;
      auditChild(child, SUBJECT_TOKEN.exec(form)?.[1] ?? '', report);
    },
    leased: ({ life, leaseId }) => void seen.leaseLife.set(leaseId, life),
    toolCalled: (call) => {
      toolCallCount += 1;
      toolCalled(seen, call, report);
    },
    effectLeased: ({ life, leaseId }) => void seen.leaseLife.set(leaseId, life),
    applyAsked: (asked) => applyAsked(seen, asked, report),
    applied: (owner, { idempotencyKey }) => {
      const count = owner.appliedCount(idempotencyKey);
      if (count > 1) report('INV-12', `The owner applied key ${idempotencyKey} ${count} times.`);
    },
  };
}

function committed(
  seen: Seen,
  { store, events, head }: { readonly store: string; readonly events: readonly RunEvent[]; readonly head: RunHead },
  options: RunAuditOptions,
): void {
  const runs = seen.accounts.get(store) ?? new Map<string, RunAccount>();
  seen.accounts.set(store, runs);
  const key = `${head.ref.tenant}/${head.ref.runId}`;
  const [first] = events;
  const run = runs.get(key) ?? (first === undefined ? undefined : openAccount(first, head.level));
  if (run === undefined) return;
  runs.set(key, run);
  for (const event of events) {
    auditEvent(run, event, options);
    enter(NOTES, run, { event, at: seen });
  }
  run.phase = head.phase;
  if (head.seq !== run.seq || head.hash !== run.hash)
    options.report('INV-11', `The head of ${key} is at ${head.seq}; its events end at ${run.seq}.`);
}

/** What other checks need to know of an event. */
const NOTES: Entries<Seen> = {
  'step.dispatched': (_run, { body, tenant }, seen) => void seen.dispatches.set(body.dispatchId, tenant),
  'effect.intended': (_run, { body: { action, leaseId, effectId } }, seen) => {
    seen.intents.set(action.idempotencyKey, { bytes: canonicalText(action) ?? '', leaseId });
    seen.keyOfEffect.set(effectId, action.idempotencyKey);
  },
  'effect.retried': (_run, { body: { effectId, leaseId } }, seen) => {
    const intent = seen.intents.get(seen.keyOfEffect.get(effectId) ?? '');
    if (intent !== undefined) intent.leaseId = leaseId;
  },
};

function toolCalled(
  seen: Seen,
  { life, claims, tool, arguments: args }: Parameters<Witness['toolCalled']>[0],
  report: RunAuditOptions['report'],
): void {
  const lease = `${tool} is called under lease ${claims.jti}`;
  if (seen.leaseLife.get(claims.jti) !== life)
    report('INV-15', `${lease}, which the process that calls it did not get itself.`);
  const run = seen.accounts.get('supervisor')?.get(`${claims.tenant}/${claims.task.run}`);
  if (run === undefined) report('INV-14', `${lease} of ${claims.tenant}, whose run ${claims.task.run} is not there.`);
  else if (run.requestedBy !== claims.sub) report('INV-14', `${lease} of ${claims.sub}, not of ${run.requestedBy}.`);
  const resources = claims.authorization_details[0]?.resources ?? [];
  const named = Object.values(args).filter((value) => typeof value === 'string');
  if (named.length > 0 && !named.some((value) => resources.some((resource) => resource.endsWith(`:${value}`))))
    report('INV-10', `${lease} for ${named.join(', ')}, which it does not name.`);
}

function applyAsked(
  seen: Seen,
  { life, request }: Parameters<Witness['applyAsked']>[0],
  report: RunAuditOptions['report'],
): void {
  const { idempotencyKey, bytes, expectedVersion, action } = request;
  const intent = seen.intents.get(idempotencyKey);
  if (intent === undefined) return report('INV-04', `The owner is asked for ${idempotencyKey}, which nobody recorded.`);
  if (intent.bytes !== new TextDecoder().decode(bytes) || expectedVersion !== action.expectedVersion)
    report('INV-04', `The owner is asked for ${idempotencyKey} with other bytes than were recorded.`);
  if (seen.leaseLife.get(intent.leaseId) !== life)
    report(
      'INV-15',
      `The owner is asked for ${idempotencyKey} by a process that did not get lease ${intent.leaseId} itself.`,
    );
}
