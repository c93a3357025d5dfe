/** Reading a token request (RFC 6749 §3.2, RFC 8693 §2.1): one form, each parameter once. */
import { parseStrictJson } from '#kernel/strict-json.ts';

export const GRANT_TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const TOKEN_TYPE_ACCESS = 'urn:ietf:params:oauth:token-type:access_token';
export const ASSERTION_TYPE_JWT = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** An HTTP request as the mount hands it over: header names in lower case, the exact body bytes. */
export interface TokenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface TokenRefusal {
  readonly status: 400 | 401 | 405 | 413 | 503;
  /** RFC 6749 §5.2, RFC 8693 §2.2.2, RFC 8707 §2, RFC 9396 §8, RFC 9449 §5. */
  readonly error: string;
  /** Our stable word. */
  readonly code: string;
  readonly message: string;
}

export type TokenStep<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: TokenRefusal };

export interface ExchangeForm {
  readonly clientAssertion: string;
  readonly subjectToken: string;
  readonly resource: string;
  readonly authorizationDetails: unknown;
  readonly taskId: string;
  readonly contextId: string;
  readonly use: string;
}

const FORM_BYTES_MAX = 65_536;
const REQUIRED = {
  grant_type: GRANT_TOKEN_EXCHANGE,
  client_assertion_type: ASSERTION_TYPE_JWT,
  client_assertion: undefined,
  subject_token: undefined,
  subject_token_type: TOKEN_TYPE_ACCESS,
  resource: undefined,
  authorization_details: undefined,
  caseops_task: undefined,
  caseops_context: undefined,
  caseops_use: undefined,
} as const satisfies Record<string, string | undefined>;

/** The form of one exchange, or why it is none. Unknown parameters are ignored, as RFC 6749 §3.2 says; repeated ones are refused. */
export function readExchangeForm(request: TokenRequest): TokenStep<ExchangeForm> {
  if (request.method !== 'POST')
    return refuse({ ...bad, status: 405, message: 'Expected POST at the token endpoint.' });
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return refuse({ ...bad, message: 'Expected a form.' });
  if (request.body.length > FORM_BYTES_MAX) {
    return refuse({ ...bad, status: 413, message: `Expected a form of at most ${FORM_BYTES_MAX} bytes.` });
  }
  const form = new URLSearchParams(Buffer.from(request.body).toString('utf8'));
  const values = new Map<string, string>();
  for (const [name, value] of form) {
    if (values.has(name)) return refuse({ ...bad, message: `Expected ${name.slice(0, 64)} once.` });
    values.set(name, value);
  }
  const take = (name: keyof typeof REQUIRED): string => values.get(name) ?? '';
  for (const [name, only] of Object.entries(REQUIRED)) {
    const value = values.get(name);
    if (value && (only === undefined || value === only)) continue;
    const error = name === 'grant_type' && value ? 'unsupported_grant_type' : 'invalid_request';
    return refuse({ ...bad, error, message: `Expected ${name}${only === undefined ? '' : ` to be ${only}`}.` });
  }
  const details = parseStrictJson(take('authorization_details'), { bytesMax: FORM_BYTES_MAX });
  if (!details.ok) {
    return refuse({
      ...bad,
      error: 'invalid_authorization_details',
      message: 'Expected authorization_details as strict JSON.',
    });
  }
  return {
    ok: true,
    value: {
      clientAssertion: take('client_assertion'),
      subjectToken: take('subject_token'),
      resource: take('resource'),
      authorizationDetails: details.value,
      taskId: take('caseops_task'),
      contextId: take('caseops_context'),
      use: take('caseops_use'),
    },
  };
}

/** A refusal as a step's result. */
export function refuse(refusal: TokenRefusal): { readonly ok: false; readonly refusal: TokenRefusal } {
  return { ok: false, refusal };
}

const bad = { status: 400, error: 'invalid_request', code: 'request' } as const;
