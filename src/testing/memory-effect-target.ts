/**
 * An effect target in memory, for tests: it counts what it applies, also a second time under one key when it is told not to look at keys,
 * and fails as a test says. Source: `ports/effect-target.ts`.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import type { Clock } from '#ports/clock.ts';
import type { Applied, ApplyRequest, EffectJson, EffectTarget, LiveRecord, ReadBack } from '#ports/effect-target.ts';

/** What goes wrong with one call of `apply`; used up by it. */
export type ApplyFault =
  /** Applied, and the reply never arrives. */
  | 'lost_reply'
  /** Never arrives at the owner, and nobody says so. */
  | 'lost_request'
  /** Refused before anything happened. */
  | 'unavailable_before'
  /** Answered with an error after it was applied. */
  | 'unavailable_after'
  | 'refused'
  /** Somebody else changes the resource just before. */
  | 'version_moved'
  /** Answers nothing until it is interrupted. */
  | 'hang';

export interface MemoryTargetOptions {
  readonly clock: Clock;
  readonly name?: string;
  readonly action?: string;
  readonly resourceType?: string;
  readonly evidenceType?: string;
  readonly authoritativeAbsence?: boolean;
  /** False: the owner does not know keys, so that a second send is a second effect. */
  readonly dedupes?: boolean;
  /** Part of the key of every effect; undefined: one key per run and step. */
  readonly keyed?: (action: { readonly resource: string; readonly tenant: string }) => string;
  readonly resultName?: string;
}

export interface MemoryTarget extends EffectTarget {
  /** The faults of the next calls of `apply`, first first. */
  readonly faults: ApplyFault[];
  /** While positive, a read-back shows nothing and counts down. */
  hiddenReadBackCount: number;
  /** While true, what the owner applied is not as it was approved. */
  spoiled: boolean;
  /** Effects applied under a key, or of all keys. */
  appliedCount(key?: string): number;
  /** Calls of `apply`. */
  readonly sendCount: number;
  /** Sets a resource, one version further. */
  move(resource: string): void;
}

interface Kept {
  readonly reference: string;
  readonly version: string;
  readonly appliedAt: string;
  readonly action: EffectAction;
}

export function createMemoryTarget(options: MemoryTargetOptions): MemoryTarget {
  const { clock, dedupes = true, resultName = 'notice_sent' } = options;
  const owner = createOwner(clock, dedupes);
  let sendCount = 0;
  const target: MemoryTarget = {
    name: options.name ?? 'outbox',
    action: options.action ?? 'notify:send',
    resourceType: options.resourceType ?? 'notice-draft',
    evidenceType: options.evidenceType ?? 'sent-notice',
    presentational: ['note'],
    precondition: 'owner',
    authoritativeAbsence: options.authoritativeAbsence ?? true,
    ...(options.keyed === undefined ? {} : { idempotencyKey: options.keyed }),
    faults: [],
    hiddenReadBackCount: 0,
    spoiled: false,
    get sendCount() {
      return sendCount;
    },
    appliedCount: owner.count,
    move: owner.move,
    validate: (parameters) =>
      typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
        ? { ok: true, value: { channel: 'mail', ...(parameters as Record<string, EffectJson>) } }
        : { ok: false, issues: [{ pointer: '', message: 'must be an object' }] },
    read: (resource): Promise<LiveRecord> =>
      Promise.resolve({ version: owner.versionOf(resource), record: { resource, channel: 'post' } }),
    apply: async (request, signal) => {
      sendCount += 1;
      const fault = target.faults.shift();
      if (fault === 'hang') return hang(signal);
      if (fault === 'version_moved') owner.move(request.action.resource);
      return answer(owner, request, fault);
    },
    readBack: async (key) => {
      if (target.hiddenReadBackCount === 0) return shown(owner.find(key), { spoiled: target.spoiled, resultName });
      target.hiddenReadBackCount -= 1;
      return { found: 'hidden', message: 'The owner does not answer.' };
    },
    postcondition: findings,
    compensate: ({ action }) => {
      owner.move(action.resource);
      return Promise.resolve({ outcome: 'applied' });
    },
  };
  return target;
}

interface Owner {
  readonly dedupes: boolean;
  versionOf(resource: string): string;
  move(resource: string): void;
  find(key: string): Kept | undefined;
  keep(action: EffectAction): void;
  count(key?: string): number;
}

function createOwner(clock: Clock, dedupes: boolean): Owner {
  const versions = new Map<string, number>();
  const kept: Kept[] = [];
  const owner: Owner = {
    dedupes,
    versionOf: (resource) => `v${versions.get(resource) ?? 1}`,
    move: (resource) => void versions.set(resource, (versions.get(resource) ?? 1) + 1),
    find: (key) => kept.find(({ action }) => action.idempotencyKey === key),
    count: (key) => kept.filter(({ action }) => key === undefined || action.idempotencyKey === key).length,
    keep: (action) => {
      if (dedupes && owner.find(action.idempotencyKey) !== undefined) return;
      owner.move(action.resource);
      kept.push({
        reference: `<${kept.length + 1}.${action.idempotencyKey}@memory>`,
        version: owner.versionOf(action.resource),
        appliedAt: clock.now(),
        action,
      });
    },
  };
  return owner;
}

/** What the owner shows of an effect. */
function shown(found: Kept | undefined, how: { readonly spoiled: boolean; readonly resultName: string }): ReadBack {
  if (found === undefined) return { found: 'absent' };
  const { reference, version, appliedAt, action } = found;
  const channel = how.spoiled ? 'pigeon' : (action.parameters['channel'] ?? null);
  const record = { reference, channel, resource: action.resource };
  return { found: 'applied', reference, version, appliedAt, record, data: { [how.resultName]: reference } };
}

const findings: EffectTarget['postcondition'] = (action, { record }) => {
  const channel = typeof record === 'object' && record !== null && 'channel' in record ? record['channel'] : null;
  const expected = action.parameters['channel'] ?? null;
  return channel === expected
    ? []
    : [{ pointer: '/channel', expected: JSON.stringify(expected), got: JSON.stringify(channel) }];
};

function answer(
  owner: Owner,
  { action, expectedVersion, idempotencyKey }: ApplyRequest,
  fault: ApplyFault | undefined,
): Applied {
  if (fault === 'unavailable_before')
    return { outcome: 'refused_before', message: '503 before it was sent.', retryable: true };
  if (fault === 'refused') return { outcome: 'refused_before', message: 'The recipient is unknown.', retryable: false };
  if (fault === 'lost_request') return { outcome: 'unknown', message: 'The connection was lost.' };
  const currentVersion = owner.versionOf(action.resource);
  // The key has its effect: the owner says so again, whatever version the resource is at now.
  const known = owner.dedupes && owner.find(idempotencyKey) !== undefined;
  if (!known && currentVersion !== expectedVersion)
    return { outcome: 'precondition_failed', currentVersion, message: `The resource is at ${currentVersion}.` };
  owner.keep(action);
  if (fault === 'lost_reply') throw new Error('socket hang up');
  if (fault === 'unavailable_after') return { outcome: 'unknown', message: '503 after it was sent.' };
  return { outcome: 'applied' };
}

function hang(signal: AbortSignal): Promise<Applied> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ outcome: 'unknown', message: 'It was interrupted.' }), {
      once: true,
    });
  });
}
