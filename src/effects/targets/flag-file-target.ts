/**
 * Promotes a release by its share of the traffic, in a flag file that OpenFeature's flagd evaluates. The file is the owner: it holds
 * the version, the promotions by idempotency key and the share, and changes as one. Source: DESIGN §3.10, §8.3; INV-12.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { tenant as tenantName } from '#contracts/ids.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type { Applied, ApplyRequest, EffectTarget, LiveRecord, ReadBack } from '#ports/effect-target.ts';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { contentDigestOf } from './content-digest.ts';
import {
  EDITED,
  flagOf,
  parseFlagDocument,
  promotedFlag,
  versionOf,
  weightPercentOf,
  withPromotion,
} from './flag-document.ts';
import type { FlagDocument, Promotion, ReleaseFlag } from './flag-document.ts';
import { flagPostcondition } from './flag-postcondition.ts';
import { evaluateFlag } from './flag-evaluation.ts';
import { underLock } from './lock-file.ts';
import { parseParameters } from './parse-parameters.ts';
import { replaceFile } from './replace-file.ts';

export interface FlagFileTargetOptions {
  /** Holds one flag file per tenant: `<tenant>.flagd.json`. Created when missing. */
  readonly directory: string;
  readonly clock: Clock;
  /** How long another process's turn at the file is waited for. Default 5,000. */
  readonly lockWaitMsMax?: number;
}

const accepted = z.strictObject({
  release_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
  traffic_percent: z
    .union([
      z.int(),
      z
        .string()
        .regex(/^\d{1,3}$/)
        .transform(Number),
    ])
    .pipe(z.int().min(0).max(100)),
  /** The version that the request itself names: `3` and `v3` are the same. */
  release_version: z
    .string()
    .regex(/^v?\d{1,9}$/)
    .transform((text) => (text.startsWith('v') ? text : `v${text}`))
    .optional(),
  /** Shown to the approver only. */
  note: z.string().max(2_000).optional(),
});

const approved = z.looseObject({ release_id: z.string(), traffic_percent: z.number() });

/** Key `promotion:<tenant>:<release>:<percent>:<version>`: the same promotion of the same version is one effect, whoever asks. */
export function createFlagFileTarget(options: FlagFileTargetOptions): EffectTarget {
  mkdirSync(options.directory, { recursive: true });
  return {
    name: 'flag-file',
    action: 'releases:promote',
    resourceType: 'release',
    evidenceType: 'release-promotion',
    presentational: ['note'],
    precondition: 'owner',
    authoritativeAbsence: true,
    validate: (value) => parseParameters(accepted, value),
    expectedVersion: ({ release_version: version }) => (typeof version === 'string' ? version : undefined),
    idempotencyKey: ({ tenant, expectedVersion, parameters }) => {
      const { release_id, traffic_percent } = approved.parse(parameters);
      return `promotion:${tenant}:${release_id}:${traffic_percent}:${expectedVersion ?? 'new'}`;
    },
    read: async (resource, tenant) => readLive(pathOf(options, tenant), resource),
    apply: async (request) => promote(options, request),
    readBack: async (key, { tenant }) => readPromotion(pathOf(options, tenant), key),
    postcondition: flagPostcondition,
  };
}

/** The file of a tenant: its name cannot leave the directory, since a tenant's name has neither dots nor slashes. */
function pathOf({ directory }: FlagFileTargetOptions, tenant: string): string {
  return join(directory, `${tenantName.parse(tenant)}.flagd.json`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw new CaseOpsError('ERR_STORE', `The flag file ${path} cannot be read.`, { at: 'effects', cause: error });
  }
}

/** Throws ERR_STORE when the file cannot be read or is no flag file. */
function readLive(path: string, resource: string): LiveRecord {
  const read = parseFlagDocument(readText(path));
  if (!read.ok) throw unreadable(path, read.message);
  const found = flagOf(read.document, releaseOf(resource));
  if (!found.ok) throw unreadable(path, found.message);
  const version = versionOf(found.flag);
  if (found.flag === undefined) return { version, record: null };
  const percent = weightPercentOf(found.flag) ?? null;
  return { version, record: { release_id: releaseOf(resource), traffic_percent: percent } };
}

function unreadable(path: string, message: string): CaseOpsError {
  return new CaseOpsError('ERR_STORE', message, { at: 'effects', detail: { path }, retryable: false });
}

const releaseOf = (resource: string): string => resource.slice(resource.indexOf(':') + 1);

function promote(options: FlagFileTargetOptions, request: ApplyRequest): Applied {
  const { action } = request;
  const wanted = approved.safeParse(action.parameters);
  if (!wanted.success || wanted.data.release_id !== releaseOf(action.resource))
    return refused('The parameters are for another release than the resource.', false);
  const path = pathOf(options, action.tenant);
  try {
    return underLock({ path: `${path}.lock`, waitMsMax: options.lockWaitMsMax ?? 5_000 }, () => {
      const read = parseFlagDocument(readText(path));
      if (!read.ok) return refused(read.message, false);
      const first = read.document.caseops?.promotions[request.idempotencyKey];
      if (first !== undefined) return repeated(first, action);
      const found = flagOf(read.document, wanted.data.release_id);
      if (!found.ok) return refused(found.message, false);
      const appliedAt = options.clock.now();
      return write(path, request, { document: read.document, flag: found.flag, appliedAt });
    });
  } catch (error) {
    // Before the file is replaced nothing is thrown that leaves a trace, and `replaceFile` does not throw.
    return refused(error instanceof CaseOpsError ? error.message : 'The flag file could not be locked.', true);
  }
}

function repeated(first: Promotion, action: EffectAction): Applied {
  return first.content === contentDigestOf(action)
    ? { outcome: 'applied' }
    : refused(`The key was used for release ${first.release_id} at ${first.traffic_percent} %.`, false);
}

interface Before {
  readonly document: FlagDocument;
  readonly flag: ReleaseFlag | undefined;
  readonly appliedAt: string;
}

function write(path: string, { action, idempotencyKey, expectedVersion }: ApplyRequest, before: Before): Applied {
  const currentVersion = versionOf(before.flag);
  if (currentVersion !== expectedVersion) {
    const message = `The release is at ${currentVersion ?? 'no version'}, not at ${expectedVersion ?? 'none'}.`;
    return { outcome: 'precondition_failed', currentVersion, message };
  }
  const { release_id, traffic_percent } = approved.parse(action.parameters);
  const flag = promotedFlag(before.flag, traffic_percent);
  const promotion: Promotion = {
    content: contentDigestOf(action),
    release_id,
    traffic_percent,
    previous_version: currentVersion,
    version: versionOf(flag) ?? '',
    applied_at: before.appliedAt,
  };
  const document = withPromotion(before.document, { key: idempotencyKey, flag, promotion });
  const written = replaceFile(path, `${JSON.stringify(document, null, 2)}\n`);
  if (!written.replaced) return refused(`The flag file could not be replaced: ${written.reason}.`, true);
  return written.durable
    ? { outcome: 'applied' }
    : { outcome: 'unknown', message: 'The flag file was replaced, and it is not certain that the disk has it.' };
}

function refused(message: string, retryable: boolean): Applied {
  return { outcome: 'refused_before', message, retryable };
}

function readPromotion(path: string, key: string): ReadBack {
  let text: string;
  try {
    text = readText(path);
  } catch {
    return { found: 'hidden', message: 'The flag file cannot be read now.' };
  }
  const read = parseFlagDocument(text);
  if (!read.ok) return { found: 'hidden', message: read.message };
  const first = read.document.caseops?.promotions[key];
  if (first === undefined) return { found: 'absent' };
  const { release_id, traffic_percent, version, applied_at } = first;
  const reference = `promotion-${digestOf(key).slice('sha256:'.length, 'sha256:'.length + 12)}`;
  return {
    found: 'applied',
    reference,
    version,
    appliedAt: applied_at,
    record: { ...first, key, now: liveShare(text, read.document, first) },
    data: { promotion_id: reference, release_id, traffic_percent, version },
  };
}

/** What holds now, by flagd-core; null when a later promotion has taken its place. */
function liveShare(text: string, document: FlagDocument, { release_id, version }: Promotion) {
  const found = flagOf(document, release_id);
  const live = found.ok ? versionOf(found.flag) : null;
  const flag = found.ok ? found.flag : undefined;
  if (live !== null && live !== version && !live.startsWith(`${version}${EDITED}`)) return null;
  const evaluated = evaluateFlag(text, release_id);
  return {
    version: live,
    weight_percent: (flag === undefined ? undefined : weightPercentOf(flag)) ?? null,
    on_count: evaluated?.onCount ?? null,
    sample_count: evaluated?.sampleCount ?? null,
    reason: evaluated?.reason ?? 'ERROR',
    evaluated_version: evaluated?.version ?? null,
  };
}
