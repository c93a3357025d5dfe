/** A user's program in one file: a tool, a skill, a worker, a team, a goal kind, a case. Started as a program it asks and prints. */
import {
  createCaseOps,
  defineCase,
  defineGoalKind,
  defineSkill,
  defineTeam,
  defineTool,
  defineWorker,
  mcpServer,
  serveTool,
  type TeamDefinition,
} from 'caseops';
import { z } from 'zod';

export const findParcel = defineTool({
  server: 'parcel-records',
  name: 'parcels.find',
  description: 'Reads a parcel.',
  input: z.object({ parcel_id: z.string() }),
  record: z.object({ parcel_id: z.string(), state: z.string() }),
  resource: { type: 'parcel', argument: 'parcel_id' },
  anchorType: 'parcel',
  actions: ['parcels:read'],
  purposes: ['parcel_inquiry'],
});

const parcelState = defineSkill({
  id: 'parcel-state',
  description: 'Says where a parcel is.',
  input: z.object({ parcel_id: z.string() }),
  artifact: z.object({ state: z.string() }),
  produces: [{ kind: 'parcel_state', pointer: '/state' }],
  tools: [findParcel],
});

const reader = defineWorker(parcelState, {
  name: 'parcel-reader',
  run: async ({ parcel_id }, context) => {
    const [parcel] = await context.call(findParcel, { parcel_id });
    if (parcel === undefined) return { status: 'no_data', evidence: [], missing: [`parcel ${parcel_id}`] };
    return { status: 'completed', data: { state: parcel.record.state }, evidence: [parcel.evidence] };
  },
});

const find = serveTool(findParcel, ({ parcel_id }, { tenant }) =>
  parcel_id === 'P-0'
    ? []
    : [
        {
          id: parcel_id,
          version: 'v3',
          tenant,
          observedAt: new Date().toISOString(),
          data: { parcel_id, state: 'at_customs' },
        },
      ],
);

export const parcelTeamCalled = (name: string): TeamDefinition =>
  defineTeam(name, {
    version: '1.0.0',
    description: 'Knows where parcels are.',
    workers: [reader],
    mcpServers: [mcpServer('parcel-records', { version: '1.0.0', tools: [find] })],
    tenants: ['t9'],
  });
export const parcelTeam = parcelTeamCalled('parcels');

export const parcelInquiry = defineGoalKind({
  kind: 'parcel_inquiry',
  subject: { type: 'parcel', entity: 'parcel_id' },
  recognise: { en: [['\\bwhere\\b']] },
  entities: [
    { kind: 'parcel_id', pattern: '\\bP-\\d+\\b', cardinality: 'one', question: { en: 'Which parcel is meant?' } },
  ],
  outputs: [{ kind: 'parcel_state', required: true }],
  claims: [
    {
      key: 'state',
      kind: 'fact',
      output: 'parcel_state',
      sentence: { en: 'Parcel {parcel} is {state}.' },
      slots: {
        parcel: { anchorType: 'parcel', pointer: '/parcel_id', format: 'identifier' },
        state: { anchorType: 'parcel', pointer: '/state', format: 'code' },
      },
    },
  ],
});

export const parcelsCase = defineCase({
  name: 'parcels',
  module: import.meta.url,
  goalKinds: [parcelInquiry],
  teams: { parcels: async () => () => parcelTeam },
  workloadActions: ['parcels:read'],
});

if (import.meta.main) {
  const caseops = await createCaseOps({ case: parcelsCase, directory: process.argv[2] ?? '.parcels', config: false });
  const run = await caseops.ask({ text: 'Where is P-7?' });
  for (const claim of run.claims) console.log(claim.text, claim.evidence.map((item) => item.ref).join(' '));
  console.log(JSON.stringify({ pids: caseops.teams.map(({ pid }) => pid) }));
  await Promise.all([caseops[Symbol.asyncDispose](), caseops[Symbol.asyncDispose]()]);
  await caseops[Symbol.asyncDispose]();
}
