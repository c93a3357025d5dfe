/** The policy team: says whether a share of the traffic is allowed, and whether a person must decide. No judgement, only the rule. */
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
import { POLICY_RECORDS } from './seed.ts';
import { getRolloutPolicy, policyRecord } from './tools.ts';

const policyCheck = defineSkill({
  id: 'policy-check',
  version: '1.0.0',
  description: 'Says whether the rollout policy allows a share of the traffic.',
  input: z.strictObject({ release_id: z.string(), request_id: z.string(), traffic_percent: z.string() }),
  artifact: z.strictObject({ finding: z.string().max(1_000), policy_id: z.string() }),
  requires: [
    { name: 'release_id', kind: 'release_id' },
    { name: 'request_id', kind: 'promotion_request' },
    { name: 'traffic_percent', kind: 'traffic_percent' },
  ],
  produces: [
    { kind: 'policy_finding', pointer: '/finding' },
    { kind: 'rollout_policy', pointer: '/policy_id' },
  ],
  risk: 'read_only',
  actions: ['policies:read'],
  resources: [{ type: 'release', input: 'release_id' }],
  datatypes: ['internal'],
  purposes: ['release_promotion'],
  tools: [getRolloutPolicy],
  evidence: { anchorTypes: ['rollout-policy'], countMin: 1 },
});

const policyWorker = defineWorker(policyCheck, {
  name: 'policy-worker',
  async run({ release_id, request_id, traffic_percent }, context) {
    const [policy] = await context.call(getRolloutPolicy, { release_id });
    if (policy === undefined)
      return { status: 'no_data', evidence: [], missing: [`no rollout policy for ${release_id}`] };
    const { policy_id, traffic_percent_max, unreviewed_percent_max } = policy.record;
    const percent = /^\d{1,3}$/.test(traffic_percent) ? Number(traffic_percent) : Number.NaN;
    const allowed = percent >= 0 && percent <= traffic_percent_max;
    const data = {
      finding: writeFinding({
        branch: 'policy',
        tenant: context.tenant,
        request_id,
        release_id,
        verdict: allowed ? 'passed' : 'failed',
        reason: `${policy_id} allows up to ${traffic_percent_max} %, and above ${unreviewed_percent_max} % a person decides; asked for: ${traffic_percent} %.`,
        requires_approval: percent > unreviewed_percent_max,
        evidence: [evidenceRef(policy.evidence)],
      }),
      policy_id,
    };
    return { status: 'completed', data, evidence: [policy.evidence] };
  },
});

const productOf = (releaseId: string): string => releaseId.replace(/-v\d+$/, '');

export function team({ directory, now }: TeamContext): TeamDefinition {
  const policies = openRecords({ directory, seed: POLICY_RECORDS, record: policyRecord, now });
  return defineTeam('policy', {
    version: '1.0.0',
    description: 'Knows the rollout policies in force.',
    workers: [policyWorker],
    mcpServers: [
      mcpServer('rollout-policies', {
        version: '1.0.0',
        tools: [
          serveTool(getRolloutPolicy, ({ release_id }, { tenant }) =>
            policies.find(tenant, productOf(release_id)).map((found) => ({ ...found, id: found.data.policy_id })),
          ),
        ],
      }),
    ],
    policy: [
      {
        actor: SUPERVISOR_WORKLOAD,
        action: 'policies:read',
        resourceType: 'release',
        purpose: 'release_promotion',
        tenants: ['tenant-7', 'tenant-8'],
      },
    ],
  });
}
