/**
 * Writes a resource of somebody's HTTP API with `Idempotency-Key` and `If-Match`, and reads back by key. The origin is fixed; what an
 * action names fills one path segment and can lead nowhere else. Source: DESIGN §3.10; RFC 9110 §13; INV-12, INV-16.
 */
import type { EffectAction } from '#contracts/effect-action.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { Clock } from '#ports/clock.ts';
import type {
  AppliedEffect,
  EffectParameters,
  EffectTarget,
  LiveRecord,
  PostconditionFinding,
  ReadBack,
} from '#ports/effect-target.ts';
import { z } from 'zod';
import { fieldFindings } from './field-findings.ts';
import { exchange, type HttpExchange } from '../http/http-exchange.ts';
import { outcomeOf, versionFrom } from './http-outcome.ts';
import { parseParameters } from './parse-parameters.ts';

export interface HttpTargetOptions {
  readonly name: string;
  readonly action: string;
  readonly resourceType: string;
  readonly evidenceType: string;
  /** A strict object; what it accepts beside `presentational` is the body of the request. */
  readonly parameters: z.ZodType;
  readonly presentational: readonly string[];
  /** `https://desk.example`; nothing is ever sent elsewhere. */
  readonly origin: string;
  readonly paths: {
    /** With `{tenant}` and `{id}`: `/tenants/{tenant}/tickets/{id}`. */
    readonly resource: string;
    /** With `{tenant}` and `{key}`: where the owner shows what it applied under a key. */
    readonly effect: string;
  };
  /** Credentials, read at each request and never kept. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The step's result from the effect as the owner shows it. */
  readonly data: (effect: HttpEffect) => EffectParameters;
  readonly contract: {
    /** The owner's "no effect under this key" is final. */
    readonly authoritativeAbsence: boolean;
    /** Statuses that the owner sends only when it has applied nothing, such as 503. */
    readonly notAppliedStatuses: readonly number[];
  };
  readonly timeoutMs: number;
  /** Default 1,000. */
  readonly continueWaitMs?: number;
  readonly clock: Clock;
}

const REPLY_BYTES_MAX = 262_144;

const httpEffect = z.looseObject({
  reference: z.string().min(1).max(256),
  resource_id: z.string(),
  version: z.string().nullable(),
  applied_at: z.string(),
  parameters: z.record(z.string(), z.json()),
});
/** What the owner answers at the effect's path. */
export type HttpEffect = z.infer<typeof httpEffect>;

const shownRecord = z.looseObject({
  resource_id: z.string(),
  parameters: z.record(z.string(), z.json()),
  now: z.record(z.string(), z.json()).nullable(),
});

/** The owner must keep both headers' promises; a test against it is the target suite. */
export function createHttpTarget(options: HttpTargetOptions): EffectTarget {
  const { name, action, resourceType, evidenceType, presentational, contract } = options;
  return {
    name,
    action,
    resourceType,
    evidenceType,
    presentational,
    precondition: 'owner',
    authoritativeAbsence: contract.authoritativeAbsence,
    validate: (value) => parseParameters(options.parameters, value),
    read: (resource, tenant, signal) => readLive(options, { resource, tenant }, signal),
    apply: async (request, signal) => {
      const { expectedVersion, idempotencyKey } = request;
      const url = resourceUrl(options, request.action);
      if (url === undefined)
        return { outcome: 'refused_before', message: 'The resource cannot be named in a path.', retryable: false };
      const headers = {
        'content-type': 'application/json',
        'idempotency-key': `"${idempotencyKey}"`,
        ...(expectedVersion === null ? { 'if-none-match': '*' } : { 'if-match': `"${expectedVersion}"` }),
      };
      const body = canonicalText(request.action.parameters) ?? '';
      return outcomeOf(await ask(options, { url, headers, body }, signal), contract.notAppliedStatuses);
    },
    readBack: (key, effectAction, signal) => readEffect(options, { key, action: effectAction }, signal),
    postcondition: httpPostcondition,
  };
}

const idOf = (resource: string): string => resource.slice(resource.indexOf(':') + 1);

function resourceUrl(options: HttpTargetOptions, { resource, tenant }: OfTenant): URL | undefined {
  return urlOf(options, 'resource', { tenant, id: idOf(resource) });
}

interface OfTenant {
  readonly resource: string;
  readonly tenant: string;
}

/** Undefined when a value would not stay one segment: dots alone are a way up, however they are written. */
function urlOf(
  { origin, paths }: HttpTargetOptions,
  path: keyof HttpTargetOptions['paths'],
  values: Readonly<Record<string, string>>,
): URL | undefined {
  if (Object.values(values).some((value) => /^\.*$/.test(value))) return undefined;
  const filled = paths[path].replaceAll(/\{(\w+)\}/g, (_, slot: string) => encodeURIComponent(values[slot] ?? ''));
  return new URL(filled, origin);
}

interface Asked {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(options: HttpTargetOptions, asked: Asked, signal: AbortSignal): Promise<HttpExchange> {
  return exchange(
    {
      method: asked.body === undefined ? 'GET' : 'PUT',
      url: asked.url,
      headers: { accept: 'application/json', ...options.headers?.(), ...asked.headers },
      body: asked.body,
      timeoutMs: options.timeoutMs,
      continueWaitMs: options.continueWaitMs ?? 1_000,
      replyBytesMax: REPLY_BYTES_MAX,
    },
    options.clock,
    signal,
  );
}

/** Throws ERR_SERVER_UNREACHABLE when the owner does not say, ERR_SCHEMA when it says it in another form, ERR_USAGE for no name. */
async function readLive(
  options: HttpTargetOptions,
  { resource, tenant }: OfTenant,
  signal: AbortSignal,
): Promise<LiveRecord> {
  const url = resourceUrl(options, { resource, tenant });
  if (url === undefined) throw failure('ERR_USAGE', `The resource ${resource} cannot be named in a path.`);
  const got = await ask(options, { url }, signal);
  if (got.got === 'reply' && got.status === 404) return { version: null, record: null };
  if (got.got !== 'reply' || got.status !== 200) {
    const said = got.got === 'reply' ? `answered ${got.status}` : got.reason;
    throw failure('ERR_SERVER_UNREACHABLE', `The owner of ${resource} cannot be asked: ${said}.`);
  }
  const version = versionFrom(got.etag);
  const record = z.json().safeParse(jsonOf(got.body));
  if (version === undefined || !record.success)
    throw failure('ERR_SCHEMA', `The owner of ${resource} answered without a strong entity tag or without JSON.`);
  return { version, record: record.data };
}

function failure(code: 'ERR_SERVER_UNREACHABLE' | 'ERR_SCHEMA' | 'ERR_USAGE', message: string): CaseOpsError {
  return new CaseOpsError(code, message, { at: 'effects' });
}

function jsonOf(text: string): unknown {
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : undefined;
}

async function readEffect(
  options: HttpTargetOptions,
  { key, action }: { readonly key: string; readonly action: EffectAction },
  signal: AbortSignal,
): Promise<ReadBack> {
  const url = urlOf(options, 'effect', { tenant: action.tenant, key });
  if (url === undefined) return { found: 'hidden', message: 'The key cannot be named in a path.' };
  const got = await ask(options, { url }, signal);
  if (got.got !== 'reply') return { found: 'hidden', message: `The owner does not answer: ${got.reason}.` };
  if (got.status === 404) return { found: 'absent' };
  if (got.status !== 200) return { found: 'hidden', message: `The owner answered ${got.status}.` };
  const effect = httpEffect.safeParse(jsonOf(got.body));
  if (!effect.success) return { found: 'hidden', message: 'The owner shows the effect in another form than agreed.' };
  const { reference, version, applied_at } = effect.data;
  const now = await stateAfter(options, { action, version }, signal);
  if (now === undefined) return { found: 'hidden', message: 'The owner does not show the resource after the effect.' };
  const record = z.json().parse({ ...effect.data, now: now.record });
  return { found: 'applied', reference, version, appliedAt: applied_at, record, data: options.data(effect.data) };
}

/** The resource while it is still at the effect's version, null once it has moved on; undefined when the owner does not say. */
async function stateAfter(
  options: HttpTargetOptions,
  { action, version }: { readonly action: EffectAction; readonly version: string | null },
  signal: AbortSignal,
): Promise<{ readonly record: LiveRecord['record'] } | undefined> {
  try {
    const live = await readLive(options, action, signal);
    return { record: live.version === version ? live.record : null };
  } catch {
    return undefined;
  }
}

/** By the owner's record of the effect, and by the resource itself while nobody has changed it since. */
function httpPostcondition(action: EffectAction, applied: AppliedEffect): readonly PostconditionFinding[] {
  const parsed = shownRecord.safeParse(applied.record);
  if (!parsed.success) return [{ pointer: '', expected: 'an effect record', got: 'another record' }];
  const { resource_id, parameters, now } = parsed.data;
  const wanted = idOf(action.resource);
  return [
    ...(resource_id === wanted ? [] : [{ pointer: '/resource_id', expected: wanted, got: resource_id }]),
    ...fieldFindings(action.parameters, parameters, '/parameters'),
    ...(now === null ? [] : fieldFindings(action.parameters, now, '/now')),
  ];
}
