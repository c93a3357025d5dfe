/** The member team: confirms who a claim belongs to. */
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
import { MEMBER_RECORDS } from './seed.ts';
import { findMember, memberRecord } from './tools.ts';

const resolveMember = defineSkill({
  id: 'resolve-member',
  version: '1.0.0',
  description: 'Confirms which member a claim belongs to.',
  input: z.strictObject({ claim_id: z.string() }),
  artifact: z.strictObject({ member_id: z.string(), claim_id: z.string() }),
  requires: [{ name: 'claim_id', kind: 'claim_id' }],
  produces: [{ kind: 'member_id', pointer: '/member_id' }],
  risk: 'read_only',
  actions: ['members:read'],
  resources: [{ type: 'claim', input: 'claim_id' }],
  datatypes: ['internal'],
  purposes: ['claim_investigation', 'claim_portfolio', 'claim_notification'],
  tools: [findMember],
  evidence: { anchorTypes: ['member'], countMin: 1 },
  timeoutMs: 3_000,
});

const memberWorker = defineWorker(resolveMember, {
  name: 'member-worker',
  async run({ claim_id }, context) {
    const [found] = await context.call(findMember, { claim_id });
    if (found === undefined) return { status: 'no_data', evidence: [], missing: [`no member holds claim ${claim_id}`] };
    return { status: 'completed', data: { member_id: found.record.member_id, claim_id }, evidence: [found.evidence] };
  },
});

export function team({ directory, now }: TeamContext): TeamDefinition {
  const records = openRecords({ directory, seed: MEMBER_RECORDS, record: memberRecord, now });
  return defineTeam('member', {
    version: '1.0.0',
    description: 'Confirms which member a claim belongs to.',
    workers: [memberWorker],
    mcpServers: [
      mcpServer('member-directory', {
        version: '1.0.0',
        tools: [
          // The directory is keyed by claim; the record it shows is the member's.
          serveTool(findMember, ({ claim_id }, { tenant }) =>
            records.find(tenant, claim_id).map((found) => ({ ...found, id: found.data.member_id })),
          ),
        ],
      }),
    ],
    policy: ['claim_investigation', 'claim_portfolio', 'claim_notification'].map((purpose) => ({
      actor: SUPERVISOR_WORKLOAD,
      action: 'members:read',
      resourceType: 'claim',
      purpose,
      tenants: ['t8', 't9'],
    })),
  });
}
