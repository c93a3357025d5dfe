/** The knowledge team: says which rule applies and what it means for the next step. */
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
import { RULE_RECORDS } from './seed.ts';
import { findRule, ruleRecord } from './tools.ts';

const policyGuidance = defineSkill({
  id: 'policy-guidance',
  version: '1.0.0',
  description: 'Says which rule applies to a claim in its status, and what happens next.',
  input: z.strictObject({ claim_status: z.string(), claim_type: z.string() }),
  artifact: z.strictObject({ rule_id: z.string(), blocks_because: z.string(), next_action: z.string() }),
  requires: [
    { name: 'claim_status', kind: 'claim_status' },
    { name: 'claim_type', kind: 'claim_type' },
  ],
  produces: [
    { kind: 'next_action', pointer: '/next_action' },
    { kind: 'policy_rule', pointer: '/rule_id' },
  ],
  risk: 'read_only',
  actions: ['policies:read'],
  resources: [{ type: 'policy-topic', input: 'claim_status' }],
  datatypes: ['public'],
  purposes: ['claim_investigation', 'claim_notification'],
  tools: [findRule],
  evidence: { anchorTypes: ['policy-rule'], countMin: 1 },
  acceptedResults: ['partial'],
  timeoutMs: 2_500,
});

const policyWorker = defineWorker(policyGuidance, {
  name: 'policy-worker',
  async run({ claim_status, claim_type }, context) {
    const [rule] = await context.call(findRule, { claim_status, claim_type });
    if (rule === undefined) {
      return {
        status: 'no_data',
        evidence: [],
        missing: [`no rule for ${claim_type} claims in status ${claim_status}`],
      };
    }
    const { rule_id, blocks_because, next_step } = rule.record;
    return {
      status: 'completed',
      data: { rule_id, blocks_because, next_action: next_step },
      evidence: [rule.evidence],
    };
  },
});

export function team({ directory, now }: TeamContext): TeamDefinition {
  const rules = openRecords({ directory, seed: RULE_RECORDS, record: ruleRecord, now });
  return defineTeam('knowledge', {
    version: '1.0.0',
    description: 'Knows the rules in force.',
    workers: [policyWorker],
    mcpServers: [
      mcpServer('policy-library', {
        version: '1.1.0',
        tools: [
          serveTool(findRule, ({ claim_status, claim_type }, { tenant }) =>
            rules.find(tenant, `${claim_type}.${claim_status}`).map((found) => ({ ...found, id: found.data.rule_id })),
          ),
        ],
      }),
    ],
    policy: ['claim_investigation', 'claim_notification'].map((purpose) => ({
      actor: SUPERVISOR_WORKLOAD,
      action: 'policies:read',
      resourceType: 'policy-topic',
      purpose,
      tenants: ['t8', 't9'],
    })),
  });
}
