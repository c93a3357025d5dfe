/** How code writes the value of a slot: a model can phrase around facts and never spell one. Source: DESIGN §3.9. */
import type { SlotFormat } from '#contracts/claim.ts';
import { millisOf, timestampOf } from './time.ts';

/** `empty`: there is nothing to say. `unfit`: what is there is not of the slot's format. */
export type Rendered =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: 'empty' | 'unfit' };

const VALUE_LENGTH_MAX = 8_000;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const NUMBER = /^-?\d+(\.\d+)?$/;
const CURRENCY = /^[A-Z]{3}$/;
const NO_BREAK_SPACE = '\u00a0';

/** The text of a value; null, an empty text and an empty list are `empty`. At most 8,000 characters, else `unfit`. */
export function renderSlot(format: SlotFormat, value: unknown): Rendered {
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return { ok: false, reason: 'empty' };
  const text = RENDER[format](value);
  return text === undefined || text.length > VALUE_LENGTH_MAX ? { ok: false, reason: 'unfit' } : { ok: true, text };
}

const RENDER: Readonly<Record<SlotFormat, (value: unknown) => string | undefined>> = {
  identifier: plain,
  code: plain,
  text: plain,
  quote: (value) => (typeof value === 'string' ? `“${value}”` : undefined),
  date,
  number,
  amount,
  list: (value) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.map(plain);
    return items.every((item) => item !== undefined && item !== '') ? items.join(', ') : undefined;
  },
};

function plain(value: unknown): string | undefined {
  return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : undefined;
}

/** `2026-07-22 14:11:09 UTC`; a date without a time stays one. A day that no calendar has is unfit. */
function date(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (DATE.test(value)) return isDay(value) ? value : undefined;
  const millis = millisOf(value);
  if (!DATE_TIME.test(value) || !isDay(value.slice(0, 10)) || Number.isNaN(millis)) return undefined;
  // Digits beyond milliseconds are kept: a rendered time is the recorded one.
  const fraction = /\.\d*[1-9]/.exec(value)?.[0] ?? '';
  const utc = timestampOf(millis);
  return `${utc.slice(0, 10)} ${utc.slice(11, 19)}${fraction} UTC`;
}

function isDay(day: string): boolean {
  const millis = millisOf(`${day}T00:00:00Z`);
  return !Number.isNaN(millis) && timestampOf(millis).startsWith(day);
}

function number(value: unknown): string | undefined {
  if (typeof value === 'string') return NUMBER.test(value) ? value : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** A number, or `{ amount, currency }`, whose unit does not break from it. */
function amount(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return number(value);
  const { amount: figure, currency } = value as { readonly amount?: unknown; readonly currency?: unknown };
  const text = number(figure);
  const known = typeof currency === 'string' && CURRENCY.test(currency);
  return text !== undefined && known ? `${text}${NO_BREAK_SPACE}${currency}` : undefined;
}
