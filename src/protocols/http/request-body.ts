/** Reads a request's JSON: bounded, strict, and checked against a schema; each failure says what was expected and where. */
import { CaseOpsError } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { z } from 'zod';

const BODY_BYTES_MAX = 1_048_576;

export async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const declared = Number(request.headers.get('content-length') ?? '0');
  if (declared > BODY_BYTES_MAX) throw tooLarge(declared);
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new CaseOpsError(
      'ERR_USAGE',
      `Expected content-type application/json, got ${JSON.stringify(type.slice(0, 80))}.`,
      { at: 'http' },
    );
  }
  const bytes = await boundedBytes(request);
  const parsed = parseStrictJson(bytes, { bytesMax: BODY_BYTES_MAX });
  if (!parsed.ok) {
    const { code, message, detail } = parsed.error;
    throw new CaseOpsError(code, message, { at: 'http', ...(detail === undefined ? {} : { detail }) });
  }
  return check(parsed.value, schema);
}

function check<T>(value: unknown, schema: z.ZodType<T>): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const issues = checked.error.issues
    .slice(0, 50)
    .map(({ path, message }) => ({ pointer: path.map((part) => `/${String(part)}`).join(''), message }));
  throw new CaseOpsError(
    'ERR_SCHEMA',
    `The request body does not fit: ${issues.map((issue) => `${issue.pointer || '/'}: ${issue.message}`).join('; ')}.`,
    {
      at: 'http',
      detail: { issues },
    },
  );
}

async function boundedBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body !== null) {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > BODY_BYTES_MAX) throw tooLarge(size);
      chunks.push(chunk);
    }
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

function tooLarge(size: number): CaseOpsError {
  return new CaseOpsError('ERR_JSON_SIZE', `Expected a body of at most ${BODY_BYTES_MAX} bytes, got ${size} or more.`, {
    at: 'http',
  });
}
