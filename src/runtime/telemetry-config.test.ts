import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import { telemetryFromEnvironment } from './telemetry-config.ts';

test('the environment says where spans go, with what credential, and what is logged; nothing set is nothing told', () => {
  assert.deepEqual(telemetryFromEnvironment({}), {});
  assert.deepEqual(
    telemetryFromEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team = 7 ,broken',
      CASEOPS_LOG_LEVEL: 'info',
    }),
    {
      otlpEndpoint: 'http://127.0.0.1:4318',
      otlpHeaders: { authorization: 'Bearer abc', 'x-team': '7' },
      logLevel: 'info',
    },
  );
});

test('what does not fit is refused by the name of its variables, without the value', () => {
  for (const env of [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://secret-host/x' }, { CASEOPS_LOG_LEVEL: 'secret-loud' }])
    assert.throws(
      () => telemetryFromEnvironment(env),
      (error) =>
        error instanceof CaseOpsError &&
        error.code === 'ERR_CONFIG' &&
        /OTEL_EXPORTER_OTLP_ENDPOINT/.test(error.message) &&
        !error.message.includes('secret'),
    );
});
