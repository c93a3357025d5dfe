import type { WorkerResult } from 'caseops';
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { finding, type Finding, readFinding } from './finding.ts';
import { errorBudgetBurn, HOUR_MS, type HealthSource } from './health/health-source.ts';
import { createPrometheusSource } from './health/prometheus-source.ts';
import { createSeriesSource, type LabelledSeries, readSeries } from './health/series-source.ts';
import { healthTeam, team } from './health/team.ts';
import { mergeFindings } from './merge-findings.ts';
import { runSkill } from './run-skill.ts';

const RELEASE = 'reranker-v17';
const input = { release_id: RELEASE, request_id: 'promote-104' };
const context = { directory: tmpdir(), now: () => '2026-07-23T09:00:00.000Z' };

async function check(source: HealthSource): Promise<WorkerResult<unknown>> {
  return (await runSkill(healthTeam(context, source), { skill: 'health-check', input })).result;
}

function findingIn(result: WorkerResult<unknown>): Finding {
  assert.ok(result.status === 'completed', result.status);
  return finding.parse(readFinding((result.data as { readonly finding: string }).finding));
}

test('two errors in a thousand burn twice what an objective of 99.9 % allows', () => {
  assert.equal(errorBudgetBurn(2, 1_000, 0.999), 2);
  assert.equal(errorBudgetBurn(0, 1_000, 0.999), 0);
  assert.equal(errorBudgetBurn(0, 0, 0.999), null);
});

const SERIES = 'a.csv';
const LABELS = JSON.stringify({ [SERIES]: [['2014-02-18 16:02:00.000000', '2014-02-18 18:02:00.000000']] });
const seriesOf = (csv: string): LabelledSeries => readSeries(csv, LABELS, SERIES);
const CSV = 'timestamp,value\n2014-02-18 14:00:00,1\n2014-02-18 16:30:00,2\n2014-02-18 20:00:00,3\n';
const hourTo = (series: LabelledSeries, time: string): HealthSource =>
  createSeriesSource(series, { tenant: 'tenant-7', releaseId: RELEASE, atMs: Date.parse(time) });

test('an hour that touches a labelled anomaly fails; the hour before it and the hour after it pass', async () => {
  for (const [to, verdict] of [
    ['2014-02-18T14:30:00Z', 'passed'],
    ['2014-02-18T17:00:00Z', 'failed'],
    ['2014-02-18T20:00:00Z', 'passed'],
  ] as const)
    assert.equal(findingIn(await check(hourTo(seriesOf(CSV), to))).verdict, verdict, to);
});

test('the first and the last instant of a label belong to it', async () => {
  const series = seriesOf('timestamp,value\n2014-02-18 16:02:00,1\n2014-02-18 19:02:00,1\n');
  assert.equal(findingIn(await check(hourTo(series, '2014-02-18T16:02:00Z'))).verdict, 'failed');
  const [touching, past] = ['2014-02-18T19:01:59.999Z', '2014-02-18T19:02:00Z'];
  const anomalies = async (to: string) =>
    (await hourTo(series, to).lastHour('tenant-7', RELEASE, new AbortController().signal))?.record.anomalies.length;
  assert.deepEqual([await anomalies(touching), await anomalies(past)], [1, 0]);
});

test('an hour of which nothing was seen is no_data, not well', async () => {
  assert.equal((await check(hourTo(seriesOf(CSV), '2014-02-18T23:00:00Z'))).status, 'no_data');
});

test('a series that is no series is refused', () => {
  for (const csv of ['', 'time,value\n', 'timestamp,value\n2014-02-18 14:00:00,\n', 'timestamp,value\nsoon,1\n'])
    assert.throws(() => seriesOf(csv), Error, csv);
  assert.throws(() => readSeries(CSV, LABELS, 'other.csv'), /Nobody has looked/);
});

const data = process.env['CASEOPS_DATA'];
const NAB = [
  ['nab-ec2_cpu_utilization_5f5533.csv', 'realAWSCloudwatch/ec2_cpu_utilization_5f5533.csv'],
  ['nab-elb_request_count_8c0756.csv', 'realAWSCloudwatch/elb_request_count_8c0756.csv'],
] as const;

for (const [file, name] of NAB) {
  const reason = data === undefined ? 'CASEOPS_DATA names no folder of real series' : false;
  test(
    `no hour of ${file} that touches a labelled anomaly can be promoted, and the others can`,
    { skip: reason },
    async () => {
      const folder = join(data ?? '', 'release');
      const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
      const labels = read('nab-combined_windows.json');
      const series = readSeries(read(file), labels, name);
      assert.ok(series.points.length > 1_000 && series.anomalies.length > 0);
      const counts = { promoted: 0, refused: 0 };
      const last = series.points.at(-1)?.atMs ?? 0;
      for (let atMs = (series.points[0]?.atMs ?? 0) + HOUR_MS; atMs <= last; atMs += HOUR_MS / 2) {
        const result = await check(createSeriesSource(series, { tenant: 'tenant-7', releaseId: RELEASE, atMs }));
        const labelled = series.anomalies.some(({ fromMs, toMs }) => fromMs <= atMs && toMs > atMs - HOUR_MS);
        const promotable = result.status === 'completed' && canBeProposed(findingIn(result));
        assert.ok(!(labelled && promotable), `an anomaly was promoted at ${new Date(atMs).toISOString()}`);
        if (result.status === 'completed' && !labelled) assert.ok(promotable, new Date(atMs).toISOString());
        counts[promotable ? 'promoted' : 'refused'] += 1;
      }
      assert.ok(counts.promoted > 100 && counts.refused > 30, JSON.stringify(counts));
    },
  );
}

/** With the other two branches in order. */
function canBeProposed(health: Finding): boolean {
  const passed = (branch: string): Finding => ({ ...health, branch, verdict: 'passed' });
  return mergeFindings([passed('eval'), health, passed('policy')], {
    tenant: 'tenant-7',
    requestId: 'promote-104',
    releaseId: RELEASE,
  }).ok;
}

const PROMETHEUS = ['/usr/bin/prometheus', '/usr/local/bin/prometheus'].find((path) => existsSync(path));
const missing = PROMETHEUS === undefined ? 'no Prometheus is installed here (Debian package prometheus)' : false;

interface Canary {
  requests: number;
  errors: number;
}

async function serveCanary(canary: Canary): Promise<Server> {
  const server = createServer((_, response) => {
    const line = (code: string, count: number): string =>
      `canary_requests_total{tenant="tenant-7",release="${RELEASE}",code="${code}"} ${count}\n`;
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(
      `# TYPE canary_requests_total counter\n${line('200', canary.requests - canary.errors)}${line('503', canary.errors)}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

interface Monitored {
  readonly url: string;
  readonly canary: Canary;
}

/** A Prometheus of its own that scrapes a canary every 200 ms; both are gone afterwards. */
async function monitored(body: (monitored: Monitored) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const canary: Canary = { requests: 0, errors: 0 };
  const server = await serveCanary(canary);
  const { port: canaryPort } = server.address() as AddressInfo;
  const port = await freePort();
  writeFileSync(
    join(directory, 'prometheus.yml'),
    `global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs:\n  - job_name: canary\n    static_configs: [{ targets: ['127.0.0.1:${canaryPort}'] }]\n`,
  );
  const prometheus = spawn(
    PROMETHEUS ?? '',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(url, prometheus);
    await body({ url, canary });
  } finally {
    const exited = prometheus.exitCode === null ? once(prometheus, 'exit') : undefined;
    prometheus.kill('SIGKILL');
    await exited;
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function ready(url: string, prometheus: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    assert.equal(prometheus.exitCode, null, 'Prometheus ended by itself');
    const answered = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
    await sleep(50);
  }
  assert.fail('Prometheus was not ready in time');
}

/** Serves so many requests over a few scrapes, some of them badly, and waits until Prometheus has seen the last of them. */
async function serveTraffic({ url, canary }: Monitored, by: Canary): Promise<void> {
  // It finds its targets some seconds after it is ready; traffic before its first look would be no increase.
  await seen(url, 'sum(canary_requests_total)', String(canary.requests));
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    canary.requests += by.requests / rounds;
    canary.errors += by.errors / rounds;
    await sleep(250);
  }
  await seen(url, 'sum(canary_requests_total)', String(canary.requests));
}

async function seen(url: string, query: string, value: string): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const said = await (await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`)).text();
    if (said.includes(`"${value}"]`)) return;
    await sleep(50);
  }
  assert.fail(`Prometheus did not see ${query} at ${value} in time`);
}

const sourceAt = (url: string): HealthSource =>
  createPrometheusSource({ url, counter: 'canary_requests_total', objective: 0.999 });

test('a real Prometheus says what the canary burned in the last hour', { skip: missing }, async () => {
  await monitored(async (at) => {
    await serveTraffic(at, { requests: 80_000, errors: 32 });
    const result = await check(sourceAt(at.url));
    assert.ok(result.status === 'completed');
    const { error_budget_burn: burn } = result.data as { error_budget_burn: number };
    assert.ok(burn > 0.3 && burn < 0.5, `${burn}`);
    const well = findingIn(result);
    assert.equal(well.verdict, 'passed');
    assert.match(well.evidence.join(), /^health-window:reranker-v17\.1h@t\d{13}$/);
    await serveTraffic(at, { requests: 8_000, errors: 800 });
    const later = findingIn(await check(sourceAt(at.url)));
    assert.equal(later.verdict, 'failed');
    assert.match(later.reason, /burned [\d.]+ times/);
  });
});

test(
  'a release that Prometheus does not know, or whose name would leave its quotes, is no_data',
  { skip: missing },
  async () => {
    await monitored(async ({ url }) => {
      const { signal } = new AbortController();
      assert.equal(await sourceAt(url).lastHour('tenant-7', 'reranker-v99', signal), undefined);
      assert.equal(await sourceAt(url).lastHour('tenant-8', RELEASE, signal), undefined);
      assert.equal(await sourceAt(url).lastHour('tenant-7', `x"} or up{x="`, signal), undefined);
    });
  },
);

test('a Prometheus that is not there, or answers in another form, is no health', async () => {
  await assert.rejects(check(sourceAt('http://127.0.0.1:1')));
  const server = createServer((_, response) => void response.end('{"status":"success","data":{}}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await assert.rejects(check(sourceAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)));
  server.close();
});

test('the team asks the Prometheus that its folder names', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'health-'));
  const settings = { url: 'http://127.0.0.1:1', counter: 'canary_requests_total', objective: 0.999 };
  writeFileSync(join(directory, 'prometheus.json'), JSON.stringify(settings));
  const asking = team({ directory, now: context.now });
  await assert.rejects(runSkill(asking, { skill: 'health-check', input }));
  writeFileSync(join(directory, 'prometheus.json'), JSON.stringify({ ...settings, objective: 1 }));
  assert.throws(() => team({ directory, now: context.now }));
  rmSync(directory, { recursive: true });
});
