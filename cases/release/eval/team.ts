/** The eval team: says what a release does worse than its baseline, and whether that is tolerated. */
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
import { z } from 'zod';
import { openRecords } from '../../records.ts';
import { evidenceRef, writeFinding } from '../finding.ts';
import { EVAL_RECORDS } from './seed.ts';
import { evalRecord, getEvalRun } from './tools.ts';

type Measure = z.infer<typeof evalRecord>['measures'][number];

const evalCheck = defineSkill({
  id: 'eval-check',
  version: '1.0.0',
  description: 'Says what a release does worse than its baseline in the last evaluation.',
  input: z.strictObject({ release_id: z.string(), request_id: z.string() }),
  artifact: z.strictObject({ finding: z.string().max(1_000), regressions: z.array(z.string()) }),
  requires: [
    { name: 'release_id', kind: 'release_id' },
    { name: 'request_id', kind: 'promotion_request' },
  ],
  produces: [
    { kind: 'eval_finding', pointer: '/finding' },
    { kind: 'eval_regressions', pointer: '/regressions' },
  ],
  risk: 'read_only',
  actions: ['evals:read'],
  resources: [{ type: 'release', input: 'release_id' }],
  datatypes: ['internal'],
  purposes: ['release_promotion'],
  tools: [getEvalRun],
  evidence: { anchorTypes: ['eval-run'], countMin: 1 },
});

const evalWorker = defineWorker(evalCheck, {
  name: 'eval-worker',
  async run({ release_id, request_id }, context) {
    const [run] = await context.call(getEvalRun, { release_id });
    if (run === undefined) return { status: 'no_data', evidence: [], missing: [`no evaluation of ${release_id}`] };
    const { measures, regressions, run_id, baseline } = run.record;
    const beyond = measures.filter(isBeyondTolerance);
    const data = {
      finding: writeFinding({
        branch: 'eval',
        tenant: context.tenant,
        request_id,
        release_id,
        verdict: beyond.length === 0 ? 'passed' : 'failed',
        reason:
          beyond.length === 0
            ? `${run_id} against ${baseline} has ${regressions.length} regressions, all within tolerance.`
            : `${run_id} against ${baseline} is worse than tolerated: ${beyond.map(written).join('; ')}.`,
        requires_approval: regressions.length > 0,
        evidence: [evidenceRef(run.evidence)],
      }),
      regressions,
    };
    return { status: 'completed', data, evidence: [run.evidence] };
  },
});

const isRegression = ({ baseline, candidate }: Measure): boolean => candidate < baseline;
/** Differences of decimals are compared to nine digits: 0.712 − 0.702 is 0.01, not a little more. */
const isBeyondTolerance = ({ baseline, candidate, tolerance }: Measure): boolean =>
  Number((baseline - candidate).toFixed(9)) > tolerance;
const written = ({ suite, metric, baseline, candidate }: Measure): string =>
  `${suite} ${metric} ${baseline} → ${candidate}`;

/** The store keeps measures; what got worse follows from them. */
function withRegressions(record: z.infer<typeof storedRun>): z.infer<typeof evalRecord> {
  return { ...record, regressions: record.measures.filter(isRegression).map(written) };
}
const storedRun = evalRecord.omit({ regressions: true });

export function team({ directory, now }: TeamContext): TeamDefinition {
  const runs = openRecords({ directory, seed: EVAL_RECORDS, record: storedRun, now });
  return defineTeam('eval', {
    version: '1.0.0',
    description: 'Evaluates releases against their baseline.',
    workers: [evalWorker],
    mcpServers: [
      mcpServer('eval-store', {
        version: '1.0.0',
        tools: [
          serveTool(getEvalRun, ({ release_id }, { tenant }) =>
            runs.find(tenant, release_id).map((found) => ({
              ...found,
              id: found.data.run_id,
              data: withRegressions(found.data),
            })),
          ),
        ],
      }),
    ],
    policy: [
      {
        actor: SUPERVISOR_WORKLOAD,
        action: 'evals:read',
        resourceType: 'release',
        purpose: 'release_promotion',
        tenants: ['tenant-7', 'tenant-8'],
      },
    ],
  });
}
