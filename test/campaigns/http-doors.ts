/** The HTTP API's bodies, and the text of a goal. */
import { CaseOpsError } from '#contracts/error.ts';
import { checkedIntake } from '#control/check-prohibitions.ts';
import { createRulesIntake } from '#control/intake.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { INQUIRY_KIND, PORTFOLIO_KIND } from '#testing/inquiry-case.ts';
import type { Door, Offered } from './doors.ts';
import { type InquiryService, openInquiryService } from './inquiry-service.ts';

/** Asks a question about itself: recorded, and no work for anybody. */
const UNCLEAR = 'Why is my claim held?';
const MANY = 1_000_000;

const ROUTES = {
  runs: { path: '/api/v1/runs', message: { text: UNCLEAR, language: 'en' } },
  plans: { path: '/api/v1/plans', message: { text: 'Why is C-102 held?', language: 'en', plan: { steps: [] } } },
  answer: { path: '/api/v1/runs/run_none/answer', message: { input: { claim_id: 'C-102' } } },
  cancel: { path: '/api/v1/runs/run_none/cancel', message: { reason: 'No longer needed.' } },
} as const;

export type HttpRoute = keyof typeof ROUTES;

export async function openHttpDoor(route: HttpRoute): Promise<Door> {
  const limits = { runsInFlightMax: 8, runsInFlightPerTenantMax: 8, queueLengthMax: MANY, goalsPerMinuteMax: MANY };
  const service = await openInquiryService({ limits, workMs: 0 });
  const { path, message } = ROUTES[route];
  let openedCount = 0;
  service.store.onCommit((events) => {
    openedCount += events.filter(({ kind }) => kind === 'run.received').length;
  });
  return {
    name: `http ${route}`,
    message: () => Promise.resolve(message),
    offer: (body) => offerHttp(service, path, body),
    recordedCount: () => openedCount,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function offerHttp(service: InquiryService, path: string, body: Uint8Array<ArrayBuffer>): Promise<Offered> {
  const headers = { authorization: 'Bearer t9', 'content-type': 'application/json' };
  const response = await service.fetch(new Request(service.url + path, { method: 'POST', headers, body }));
  const {
    code = '',
    detail = '',
    errors = [],
  } = (await response.json()) as {
    readonly code?: string;
    readonly detail?: string;
    readonly errors?: readonly { readonly pointer: string }[];
  };
  const said = `${detail} ${errors.map(({ pointer }) => pointer).join(' ')}`;
  return { taken: response.ok, code, said, broken: response.status >= 500 };
}

/** The intake, past the API's schema: what it makes of a text, a language and answers given so far. */
export function openGoalTextDoor(): Door {
  const kinds = [INQUIRY_KIND, PORTFOLIO_KIND];
  const intake = checkedIntake(createRulesIntake({ kinds, ids: systemIds }), kinds);
  const identity = { tenant: 't9', subject: 'requester@t9', sessionId: 'ses_1' };
  const bounds = { signal: new AbortController().signal, modelTokenCountMax: 0 };
  let turn = 0;
  return {
    name: 'goal text',
    message: () => Promise.resolve({ text: TEXTS[turn++ % TEXTS.length] ?? UNCLEAR }),
    offer: async (bytes) => {
      const parsed = parseStrictJson(bytes);
      if (!parsed.ok) return refused(parsed.error.code, parsed.error.message);
      const text = textOf(parsed.value);
      try {
        await intake.read({ text, language: undefined, given: {}, identity, at: systemClock.now() }, bounds);
        return TAKEN;
      } catch (error) {
        if (!(error instanceof CaseOpsError)) throw error;
        return refused(error.code, error.message);
      }
    },
    recordedCount: () => 0,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const TEXTS = [
  'Find out why C-102 has not been completed. Draft a notice first; do not send it.',
  'C-102 はなぜ止まっていますか。下書きを作り、まだ送らないでください。',
  "Why is C-102 held? Don't, under any circumstances, contact the member.",
  'What is the status of C-1, C-2 and C-3?',
];

/** The text of the message; of one that has none, all of it. */
function textOf(value: unknown): string {
  const text = typeof value === 'object' && value !== null && 'text' in value ? value.text : value;
  return typeof text === 'string' ? text : JSON.stringify(text);
}

export const TAKEN: Offered = { taken: true, code: '', said: '', broken: false };

export function refused(code: string, said: string, broken = false): Offered {
  return { taken: false, code, said, broken };
}
