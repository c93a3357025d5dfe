/** The Idempotency-Key of a request, if it has one. Source: SURFACES "HTTP API". */
import { CaseOpsError } from '#contracts/error.ts';

/** ERR_USAGE unless it is 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.length >= 1 && header.length <= 255 && /^[\x21-\x7e]+$/.test(header)) return header;
  throw new CaseOpsError('ERR_USAGE', 'Expected an Idempotency-Key of 1 to 255 visible ASCII characters.', {
    at: 'http',
  });
}
