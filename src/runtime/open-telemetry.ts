/** Opens a process's telemetry as it is configured. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Telemetry } from '#ports/telemetry.ts';
import { createJsonLog } from '#telemetry/json-log.ts';
import { createQuietTelemetry } from '#telemetry/none.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import type { TelemetryConfig } from './telemetry-config.ts';
import { VERSION } from './version.ts';

const PACKAGES = ['@opentelemetry/api', '@opentelemetry/sdk-trace', '@opentelemetry/resources'];

/** ERR_CONFIG when an endpoint is configured and the OpenTelemetry packages, which are optional, are not installed. */
export async function openTelemetry(config: TelemetryConfig, service: string): Promise<Telemetry> {
  const log = createJsonLog({
    clock: systemClock,
    service,
    level: config.logLevel,
    write: (line) => void process.stderr.write(line),
  });
  if (config.otlpEndpoint === undefined) return createQuietTelemetry(log);
  const { createOtelTelemetry } = await loadOtel();
  return createOtelTelemetry({
    endpoint: config.otlpEndpoint,
    ...(config.otlpHeaders === undefined ? {} : { headers: config.otlpHeaders }),
    service,
    version: VERSION,
    instanceId: systemIds.next('call').slice('call_'.length),
    processId: process.pid,
    log,
  });
}

async function loadOtel() {
  try {
    return await import('#telemetry/otel.ts');
  } catch (cause) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `OTLP export needs the optional packages ${PACKAGES.join(', ')} and @opentelemetry/exporter-trace-otlp-http; install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT.`,
      { at: 'runtime', cause },
    );
  }
}
