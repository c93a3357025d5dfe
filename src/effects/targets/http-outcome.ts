/**
 * What an HTTP exchange says about an effect. The table is by what the owner can have done: before the body nothing, after it anything
 * that a status does not rule out. Source: DESIGN §3.10 "an error after sending is unknown unless the owner's contract says otherwise".
 */
import type { Applied } from '#ports/effect-target.ts';
import type { HttpExchange } from '../http/http-exchange.ts';

/** Statuses under which the same request may pass later. */
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/** `notAppliedStatuses`: statuses that by the owner's own contract are sent only when nothing was applied. */
export function outcomeOf(exchanged: HttpExchange, notAppliedStatuses: readonly number[]): Applied {
  if (exchanged.got === 'nothing') {
    return exchanged.bodySent
      ? { outcome: 'unknown', message: `The owner had the request and did not answer: ${exchanged.reason}.` }
      : refused(`The owner was not reached: ${exchanged.reason}.`, true);
  }
  const { status, bodySent } = exchanged;
  if (status === 412) {
    const currentVersion = versionFrom(exchanged.etag) ?? null;
    return {
      outcome: 'precondition_failed',
      currentVersion,
      message: `The owner is at ${currentVersion ?? 'no version'}.`,
    };
  }
  if (status >= 200 && status < 300 && status !== 202) return { outcome: 'applied' };
  if (!bodySent && status !== 202)
    return refused(`The owner refused with ${status} before it had the request.`, RETRYABLE.has(status));
  if (notAppliedStatuses.includes(status) || isRefusal(status))
    return refused(`The owner refused with ${status}.`, RETRYABLE.has(status));
  return { outcome: 'unknown', message: `The owner answered ${status}: what it did is not certain.` };
}

/** A client error rules the effect out, except where the same key may be under way (409) or the owner gave up waiting (408). */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 409;
}

/** The version in a strong entity tag; a weak one cannot be a precondition. */
export function versionFrom(etag: string | undefined): string | undefined {
  return /^"([^"]{1,128})"$/.exec(etag ?? '')?.[1];
}

function refused(message: string, retryable: boolean): Applied {
  return { outcome: 'refused_before', message, retryable };
}
