/** The health team: says whether a release's canary was well in the last hour. What was not seen is not well. */
import {
  defineSkill,
  defineTeam,
  defineWorker,
  mcpServer,
  serveTool,
  SUPERVISOR_WORKLOAD,
  type TeamContext,
  type TeamDefinition,
} from 'caseops';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openRecords } from '../../records.ts';
import { evidenceRef, writeFinding } from '../finding.ts';
import type { HealthSource } from './health-source.ts';
import { createPrometheusSource } from './prometheus-source.ts';
import { HEALTH_RECORDS } from './seed.ts';
import { getHealthWindow, healthRecord, type HealthRecord } from './tools.ts';

/** Of the hour's budget; burning more than all of it fails the branch. */
const BURN_MAX = 1;

const healthCheck = defineSkill({
  id: 'health-check',
  version: '1.0.0',
  description: "Says whether a release's canary was well in the last hour, and how much error budget it burned.",
  input: z.strictObject({ release_id: z.string(), request_id: z.string() }),
  artifact: z.strictObject({ finding: z.string().max(1_000), error_budget_burn: z.number().nullable() }),
  requires: [
    { name: 'release_id', kind: 'release_id' },
    { name: 'request_id', kind: 'promotion_request' },
  ],
  produces: [
    { kind: 'health_finding', pointer: '/finding' },
    { kind: 'error_budget_burn', pointer: '/error_budget_burn' },
  ],
  risk: 'read_only',
  actions: ['metrics:read'],
  resources: [{ type: 'release', input: 'release_id' }],
  datatypes: ['internal'],
  purposes: ['release_promotion'],
  tools: [getHealthWindow],
  evidence: { anchorTypes: ['health-window'], countMin: 1 },
});

const healthWorker = defineWorker(healthCheck, {
  name: 'health-worker',
  async run({ release_id, request_id }, context) {
    const [window] = await context.call(getHealthWindow, { release_id });
    if (window === undefined || window.record.sample_count === 0)
      return { status: 'no_data', evidence: [], missing: [`nothing was seen of ${release_id} in the last hour`] };
    const problems = problemsOf(window.record);
    const { error_budget_burn } = window.record;
    const data = {
      finding: writeFinding({
        branch: 'health',
        tenant: context.tenant,
        request_id,
        release_id,
        verdict: problems.length === 0 ? 'passed' : 'failed',
        reason: problems.length === 0 ? wellIn(window.record) : problems.join(' '),
        requires_approval: false,
        evidence: [evidenceRef(window.evidence)],
      }),
      error_budget_burn,
    };
    return { status: 'completed', data, evidence: [window.evidence] };
  },
});

function problemsOf({ anomalies, error_budget_burn: burn }: HealthRecord): readonly string[] {
  return [
    ...anomalies.map(({ from, to }) => `An anomaly is labelled from ${from} to ${to}.`),
    ...(burn !== null && burn > BURN_MAX ? [`The canary burned ${burn} times the hour's error budget.`] : []),
  ];
}

function wellIn({ error_budget_burn: burn, sample_count, window_to }: HealthRecord): string {
  return burn === null
    ? `No anomaly in ${sample_count} samples of the hour to ${window_to}.`
    : `The canary burned ${burn} of the error budget of the hour to ${window_to}.`;
}

/** `prometheus.json` in the team's folder names the Prometheus to ask; without it the synthetic records stand in. */
export function team(context: TeamContext): TeamDefinition {
  const path = join(context.directory, 'prometheus.json');
  if (!existsSync(path)) return healthTeam(context, syntheticSource(context));
  const settings = prometheusSettings.parse(JSON.parse(readFileSync(path, 'utf8')));
  return healthTeam(context, createPrometheusSource(settings));
}

const prometheusSettings = z.strictObject({
  url: z.url(),
  counter: z.string().regex(/^[a-z][a-z0-9_:]*$/),
  objective: z.number().gt(0).lt(1),
});

export function healthTeam({ now }: TeamContext, source: HealthSource): TeamDefinition {
  return defineTeam('health', {
    version: '1.0.0',
    description: 'Watches the canaries.',
    workers: [healthWorker],
    mcpServers: [
      mcpServer('telemetry', {
        version: '1.0.0',
        tools: [
          serveTool(getHealthWindow, async ({ release_id }, { tenant, signal }) => {
            const window = await source.lastHour(tenant, release_id, signal);
            if (window === undefined) return [];
            const { version, record } = window;
            return [{ id: `${release_id}.1h`, version, tenant, observedAt: now(), data: record }];
          }),
        ],
      }),
    ],
    policy: [
      {
        actor: SUPERVISOR_WORKLOAD,
        action: 'metrics:read',
        resourceType: 'release',
        purpose: 'release_promotion',
        tenants: ['tenant-7', 'tenant-8'],
      },
    ],
  });
}

function syntheticSource({ directory, now }: TeamContext): HealthSource {
  const records = openRecords({ directory, seed: HEALTH_RECORDS, record: healthRecord, now });
  return {
    lastHour: async (tenant, releaseId) => {
      const [found] = records.find(tenant, releaseId);
      return found === undefined ? undefined : { version: found.version, record: found.data };
    },
  };
}
