/** Where spans go, and which log lines are written. A team's process is told by its start message: its environment is empty. */
import { CaseOpsError } from '#contracts/error.ts';
import { z } from 'zod';

export const telemetryConfig = z.strictObject({
  /** Base URL of an OTLP/HTTP receiver; without one no span leaves the process. */
  otlpEndpoint: z.url({ protocol: /^https?$/ }).optional(),
  /** Sent with each export; may hold the receiver's credential. */
  otlpHeaders: z.record(z.string().max(128), z.string().max(4_096)).optional(),
  /** Lines of this level and above are written to stderr, as JSON; without one nothing is. */
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).optional(),
  /** At a team: `continue` its caller's trace (default), or begin a `new` one that links to it. */
  traces: z.enum(['continue', 'new']).optional(),
});
export type TelemetryConfig = z.infer<typeof telemetryConfig>;

/**
 * From OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS (`name=value,name=value`, percent-encoded) and CASEOPS_LOG_LEVEL; throws
 * ERR_CONFIG naming the variable that does not fit.
 */
export function telemetryFromEnvironment(env: Readonly<Record<string, string | undefined>>): TelemetryConfig {
  const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS', 'CASEOPS_LOG_LEVEL'] as const;
  const [otlpEndpoint, headers, logLevel] = names.map((name) => env[name] || undefined);
  const parsed = telemetryConfig.safeParse({
    ...(otlpEndpoint === undefined ? {} : { otlpEndpoint }),
    ...(headers === undefined ? {} : { otlpHeaders: headersOf(headers) }),
    ...(logLevel === undefined ? {} : { logLevel }),
  });
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new CaseOpsError('ERR_CONFIG', `One of ${names.join(', ')} does not fit: ${places}.`, { at: 'runtime' });
}

function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const mark = pair.indexOf('=');
    return mark <= 0 ? [] : [[pair.slice(0, mark).trim(), decoded(pair.slice(mark + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
