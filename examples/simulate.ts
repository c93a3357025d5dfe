/** Simulates a small case under faults: `node --conditions=@caseops/source examples/simulate.ts`. docs/how-to-simulate.md explains it. */
import {
  defineGoalKind,
  defineSkill,
  defineTeam,
  defineTool,
  defineWorker,
  mcpServer,
  serveTool,
  SUPERVISOR_WORKLOAD,
} from 'caseops';
import { createSimulator, shrink, type SimulatedCase, type Simulator, type Violation } from 'caseops/testing';
import { z } from 'zod';

const purposes = ['parcel_inquiry'];
const findParcel = defineTool({
  server: 'parcel-records',
  name: 'parcels.find',
  description: 'Reads a parcel.',
  input: z.object({ parcel_id: z.string() }),
  record: z.object({ parcel_id: z.string(), state: z.string() }),
  resource: { type: 'parcel', argument: 'parcel_id' },
  anchorType: 'parcel',
  actions: ['parcels:read'],
  purposes,
});
const parcelState = defineSkill({
  id: 'parcel-state',
  description: 'Says where a parcel is.',
  tools: [findParcel],
  input: z.object({ parcel_id: z.string() }),
  artifact: z.object({ state: z.string() }),
  produces: [{ kind: 'parcel_state', pointer: '/state' }],
});
const reader = defineWorker(parcelState, {
  name: 'parcel-reader',
  run: async ({ parcel_id }, context) => {
    const [found] = await context.call(findParcel, { parcel_id });
    if (found === undefined) return { status: 'no_data', evidence: [], missing: ['the parcel'] };
    return { status: 'completed', data: { state: found.record.state }, evidence: [found.evidence] };
  },
});
const parcelInquiry = defineGoalKind({
  kind: 'parcel_inquiry',
  recognise: { en: [['\\bwhere\\b']] },
  subject: { type: 'parcel', entity: 'parcel_id' },
  entities: [{ kind: 'parcel_id', pattern: '\\bP-\\d+\\b', cardinality: 'one', question: { en: 'Which parcel?' } }],
  outputs: [{ kind: 'parcel_state', required: true }],
  claims: [],
});
const requester = {
  sub: 'requester@t9',
  tenant: 't9',
  purposes,
  actions: ['parcels:read'],
  may_act: { sub: SUPERVISOR_WORKLOAD },
  roles: ['requester'],
};

/** Tools take the time from the simulated clock. */
export const parcels: SimulatedCase = {
  name: 'parcels',
  teams: (clock) => [
    defineTeam('parcels', {
      version: '1.0.0',
      description: 'Parcels.',
      tenants: ['t9'],
      workers: [reader],
      mcpServers: [
        mcpServer('parcel-records', {
          version: '1.0.0',
          tools: [
            serveTool(findParcel, ({ parcel_id: id }, { tenant }) => [
              { id, version: 'v3', tenant, observedAt: clock.now(), data: { parcel_id: id, state: 'at_customs' } },
            ]),
          ],
        }),
      ],
    }),
  ],
  goalKinds: [parcelInquiry],
  asks: [{ text: 'Where is P-7?', grant: requester }],
  grants: [requester],
  approver: () => requester,
  workloadActions: ['parcels:read'],
};

/** What breaks within so many seeds, each cut down to what is needed. */
export async function findBroken(simulator: Simulator, seedCount: number): Promise<readonly Violation[]> {
  for (let seed = 1; seed <= seedCount; seed++) {
    const { violations } = await simulator.run(simulator.draw(seed));
    if (violations.length === 0) continue;
    const small = await shrink(simulator, simulator.draw(seed), (outcome) => outcome.violations.length > 0);
    return small?.outcome.violations ?? violations;
  }
  return [];
}

if (import.meta.main) {
  await using simulator = createSimulator(parcels);
  console.log(await findBroken(simulator, 200));
}
