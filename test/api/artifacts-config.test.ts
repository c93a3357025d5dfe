/** Where artifacts and credentials go when a configuration says so: S3 by named secrets, OTLP headers by named secrets. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  checkInstallation,
  createCaseOps,
  defineCase,
  defineSkill,
  defineTeam,
  defineWorker,
  environmentSecrets,
  mcpServer,
  serveTool,
  type CaseOpsConfigInput,
} from 'caseops';
import { z } from 'zod';
import { systemClock } from '#runtime/system-clock.ts';
import { serveS3 } from '#testing/s3-server.ts';
import { findParcel, parcelsCase } from './parcels.ts';

const LABEL_LENGTH = 400_000;
const PLACE = {
  bucket: 'caseops-artifacts',
  region: 'eu-central-1',
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 's3cret',
};

const labelled = defineSkill({
  id: 'parcel-state',
  description: 'Says where a parcel is, with its label.',
  input: z.object({ parcel_id: z.string() }),
  artifact: z.object({ state: z.string(), label: z.string() }),
  produces: [{ kind: 'parcel_state', pointer: '/state' }],
  tools: [findParcel],
});

/** A team whose artifact is larger than a database may hold. */
const labelTeam = defineTeam('parcels', {
  version: '1.0.0',
  description: 'Knows where parcels are, and prints labels.',
  workers: [
    defineWorker(labelled, {
      name: 'label-printer',
      run: async ({ parcel_id }, context) => {
        const [parcel] = await context.call(findParcel, { parcel_id });
        if (parcel === undefined) return { status: 'no_data', evidence: [], missing: [parcel_id] };
        const data = { state: parcel.record.state, label: 'x'.repeat(LABEL_LENGTH) };
        return { status: 'completed', data, evidence: [parcel.evidence] };
      },
    }),
  ],
  mcpServers: [
    mcpServer('parcel-records', {
      version: '1.0.0',
      tools: [
        serveTool(findParcel, ({ parcel_id }, { tenant }) => [
          { id: parcel_id, version: 'v3', tenant, observedAt: systemClock.now(), data: { parcel_id, state: 'sorted' } },
        ]),
      ],
    }),
  ],
  tenants: ['t9'],
});

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-artifacts-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return directory;
}

function secretsFor(t: TestContext, values: Readonly<Record<string, string>>) {
  const prefix = 'ARTIFACTS_TEST_';
  for (const [name, value] of Object.entries(values)) process.env[`${prefix}${name}`] = value;
  t.after(() => Object.keys(values).forEach((name) => delete process.env[`${prefix}${name}`]));
  return environmentSecrets({ prefix });
}

const open = (t: TestContext, config: CaseOpsConfigInput, values: Readonly<Record<string, string>>) =>
  createCaseOps({
    case: defineCase({ ...parcelsCase, teams: {} }),
    inProcessTeams: [labelTeam],
    directory: directoryFor(t),
    secrets: secretsFor(t, values),
    config,
  });

const s3Config = (endpoint: string): CaseOpsConfigInput => ({
  artifacts: {
    kind: 's3',
    endpoint,
    bucket: PLACE.bucket,
    region: PLACE.region,
    prefix: 'runs/',
    accessKeyId: 'bucket-id',
    secretAccessKey: 'bucket-key',
  },
});

test('an artifact above 256 kB goes to the bucket that the configuration names, signed with the named secrets', async (t) => {
  await using s3 = await serveS3({ ...PLACE, clock: systemClock });
  const directory = directoryFor(t);
  await using caseops = await createCaseOps({
    case: defineCase({ ...parcelsCase, teams: {} }),
    inProcessTeams: [labelTeam],
    directory,
    secrets: secretsFor(t, { BUCKET_ID: PLACE.accessKeyId, BUCKET_KEY: PLACE.secretAccessKey }),
    config: s3Config(s3.endpoint),
  });
  const run = await caseops.ask({ text: 'Where is P-7?' });
  assert.deepEqual([run.result, run.claims[0]?.text], ['completed', 'Parcel P-7 is sorted.']);
  const kept = [...s3.objects].filter(([, bytes]) => bytes.byteLength > LABEL_LENGTH);
  assert.ok(kept.length > 0, JSON.stringify(s3.log));
  for (const [key] of kept) assert.match(key, /^runs\/t9\/[0-9a-f]{64}$/);
  assert.equal(readdirSync(directory).includes('artifacts'), false);
});

test('a bucket that refuses the key fails the step by name; a missing secret stops the start by name', async (t) => {
  await using s3 = await serveS3({ ...PLACE, clock: systemClock });
  await assert.rejects(open(t, s3Config(s3.endpoint), { BUCKET_ID: 'AKIDTEST' }), {
    code: 'ERR_CONFIG',
    message: /S3 credential bucket-key/,
  });
  await using caseops = await open(t, s3Config(s3.endpoint), { BUCKET_ID: 'AKIDTEST', BUCKET_KEY: 'another' });
  const run = await caseops.ask({ text: 'Where is P-7?' });
  assert.equal(run.result, 'failed');
  assert.match(JSON.stringify(run.steps), /answered PUT with 403/);
  assert.equal(s3.objects.size, 0);
});

test("an OTLP header's value comes from the secrets, and its absence is told by name", async (t) => {
  const seen: (string | undefined)[] = [];
  const receiver = createServer((request, response) => {
    seen.push(request.headers.authorization);
    request.resume().on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  t.after(() => receiver.close());
  const address = receiver.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const config: CaseOpsConfigInput = {
    telemetry: { otlpEndpoint: `http://127.0.0.1:${port}`, otlpHeaderSecrets: { authorization: 'otlp-credential' } },
  };
  await assert.rejects(open(t, config, {}), { code: 'ERR_CONFIG', message: /the header otlp-credential/ });
  {
    await using caseops = await open(t, config, { OTLP_CREDENTIAL: 'Bearer of-the-receiver' });
    await caseops.ask({ text: 'Where is P-7?' });
  }
  assert.ok(seen.length > 0);
  assert.deepEqual([...new Set(seen)], ['Bearer of-the-receiver']);
});

test('tenants differ in their quotas as the configuration says', async (t) => {
  await using caseops = await open(
    t,
    { quotas: { goalsPerMinuteMax: 2, tenants: { t8: { goalsPerMinuteMax: 1 } } } },
    {},
  );
  await caseops.submit({ text: 'Where is P-7?', as: 'requester@t8' });
  await assert.rejects(caseops.submit({ text: 'Where is P-7?', as: 'requester@t8' }), { code: 'ERR_RATE_LIMITED' });
  await caseops.submit({ text: 'Where is P-7?' });
  await caseops.submit({ text: 'Where is P-8?' });
  await assert.rejects(caseops.submit({ text: 'Where is P-7?' }), { code: 'ERR_RATE_LIMITED' });
});

test('doctor names each secret that the configuration wants and that is not there', async (t) => {
  const directory = directoryFor(t);
  const config: CaseOpsConfigInput = {
    secrets: { from: 'environment', prefix: 'ARTIFACTS_TEST_NONE_' },
    ...s3Config('http://127.0.0.1:9'),
    telemetry: { otlpEndpoint: 'http://127.0.0.1:9', otlpHeaderSecrets: { authorization: 'otlp-credential' } },
  };
  writeFileSync(join(directory, 'caseops.config.json'), JSON.stringify(config));
  const { findings } = await checkInstallation({ from: directory });
  assert.deepEqual(
    findings.map(({ pointer }) => pointer),
    ['/artifacts/accessKeyId', '/artifacts/secretAccessKey', '/telemetry/otlpHeaderSecrets/authorization'],
  );
});
