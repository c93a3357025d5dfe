/** The claims team: says where a claim stands and which documents it lacks. */
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
import { join } from 'node:path';
import { z } from 'zod';
import { openRecords } from '../../records.ts';
import { CLAIM_RECORDS, DOCUMENT_RECORDS } from './seed.ts';
import { claimRecord, documentsRecord, getStatus, listMissingDocuments } from './tools.ts';

const purposes = ['claim_investigation', 'claim_portfolio', 'claim_notification'];

const claimStatus = defineSkill({
  id: 'claim-status',
  version: '1.3.0',
  description: 'Says where a claim stands and which documents it lacks.',
  input: z.strictObject({ claim_id: z.string(), member_id: z.string() }),
  artifact: z.strictObject({
    claim_id: z.string(),
    claim_type: z.string(),
    status: z.string(),
    missing_documents: z.array(z.string()),
    updated_at: z.string(),
  }),
  requires: [
    { name: 'claim_id', kind: 'claim_id' },
    { name: 'member_id', kind: 'member_id' },
  ],
  produces: [
    { kind: 'cause', pointer: '/status' },
    { kind: 'claim_status', pointer: '/status' },
    { kind: 'claim_type', pointer: '/claim_type' },
    { kind: 'missing_documents', pointer: '/missing_documents' },
  ],
  risk: 'read_only',
  actions: ['claims:read'],
  resources: [{ type: 'claim', input: 'claim_id' }],
  datatypes: ['internal'],
  purposes,
  tools: [getStatus, listMissingDocuments],
  evidence: { anchorTypes: ['claim', 'claim-documents'], countMin: 2 },
  stateFields: ['status', 'member_id'],
  timeoutMs: 3_000,
  budget: { toolCallCountMax: 2, modelTokenCountMax: 0 },
});

const claimWorker = defineWorker(claimStatus, {
  name: 'claim-status-worker',
  async run({ claim_id, member_id }, context) {
    const [claim] = await context.call(getStatus, { claim_id });
    if (claim === undefined || claim.record.member_id !== member_id) {
      return { status: 'no_data', evidence: [], missing: [`no claim ${claim_id} of member ${member_id}`] };
    }
    const { claim_type, status, updated_at } = claim.record;
    const [documents] = await context.call(listMissingDocuments, { claim_id });
    const data = { claim_id, claim_type, status, updated_at, missing_documents: documents?.record.missing ?? [] };
    if (documents === undefined) {
      return { status: 'partial', data, evidence: [claim.evidence], missing: ['the list of documents'] };
    }
    return { status: 'completed', data, evidence: [claim.evidence, documents.evidence] };
  },
});

export function team({ directory, now }: TeamContext): TeamDefinition {
  const claims = openRecords({ directory: join(directory, 'claims'), seed: CLAIM_RECORDS, record: claimRecord, now });
  const documents = openRecords({
    directory: join(directory, 'documents'),
    seed: DOCUMENT_RECORDS,
    record: documentsRecord,
    now,
  });
  return defineTeam('claims', {
    version: '1.0.0',
    description: 'Knows where a claim stands.',
    workers: [claimWorker],
    mcpServers: [
      mcpServer('claims-records', {
        version: '2.0.0',
        tools: [
          serveTool(getStatus, ({ claim_id }, { tenant }) => claims.find(tenant, claim_id)),
          serveTool(listMissingDocuments, ({ claim_id }, { tenant }) => documents.find(tenant, claim_id)),
        ],
      }),
    ],
    policy: purposes.map((purpose) => ({
      actor: SUPERVISOR_WORKLOAD,
      action: 'claims:read',
      resourceType: 'claim',
      purpose,
      tenants: ['t8', 't9'],
    })),
  });
}
