/** Structured log lines: one JSON object a line, cleaned of secrets. */
import type { Clock } from '#ports/clock.ts';
import type { LogLevel, Telemetry } from '#ports/telemetry.ts';
import { redact, redactText } from './redaction.ts';

export interface JsonLogOptions {
  readonly clock: Clock;
  readonly service: string;
  /** The lowest level that is written; undefined: nothing is. */
  readonly level: LogLevel | undefined;
  readonly write: (line: string) => void;
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 10, info: 20, warn: 30, error: 40 };

/** `time`, `level`, `service` and `message` are the line's own: an attribute cannot take their place. */
export function createJsonLog({ clock, service, level: lowest, write }: JsonLogOptions): Telemetry['log'] {
  return (level, message, attributes = {}) => {
    if (lowest === undefined || RANK[level] < RANK[lowest]) return;
    const own = { time: clock.now(), level, service, message: redactText(message) };
    write(`${JSON.stringify({ ...own, ...(redact(attributes) as object), ...own })}\n`);
  };
}
