/** One case in three versions, for upgrades in flight: a parcel is read, released by an approved effect, and a note about it is read. */
import {
  defineCase,
  defineGoalKind,
  defineSkill,
  defineTeam,
  defineTool,
  defineWorker,
  mcpServer,
  serveTool,
  type CaseDefinition,
  type EffectContext,
  type TeamDefinition,
} from 'caseops';
import type { EffectTarget } from 'caseops/effects';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** v1 is what runs begin under; v2 offers its reading skill beside a new one, with another release; v3 offers only what is new. */
export type Version = 'v1' | 'v2' | 'v3';

const reads = { actions: ['parcels:read'], purposes: ['parcel_release'] } as const;

const findParcel = defineTool({
  server: 'parcel-records',
  name: 'parcels.find',
  description: 'Reads a parcel.',
  input: z.object({ parcel_id: z.string() }),
  record: z.object({ parcel_id: z.string(), state: z.string() }),
  resource: { type: 'parcel', argument: 'parcel_id' },
  anchorType: 'parcel',
  ...reads,
});

const findNote = defineTool({
  server: 'parcel-records',
  name: 'notes.find',
  description: 'Reads the note about a released parcel.',
  input: z.object({ parcel_id: z.string() }),
  record: z.object({ parcel_id: z.string(), text: z.string(), signed_by: z.string() }),
  resource: { type: 'parcel', argument: 'parcel_id' },
  anchorType: 'parcel-note',
  ...reads,
});

const parcelState = defineSkill({
  id: 'parcel-state',
  description: 'Says where a parcel is.',
  input: z.object({ parcel_id: z.string() }),
  artifact: z.object({ state: z.string() }),
  produces: [{ kind: 'parcel_state', pointer: '/state' }],
  tools: [findParcel],
});

const noteInput = z.object({ parcel_id: z.string(), released: z.string() });
const noteOf = {
  id: 'release-note',
  description: 'Reads what was noted about a release.',
  input: noteInput,
  produces: [{ kind: 'release_note', pointer: '/text' }],
  resources: [{ type: 'parcel', input: 'parcel_id' as const }],
  tools: [findNote],
};
const noteV1 = defineSkill({ ...noteOf, artifact: z.object({ text: z.string() }) });
const noteV2 = defineSkill({
  ...noteOf,
  version: '2.0.0',
  artifact: z.object({ text: z.string(), signed_by: z.string() }),
});

const releaseOf = (version: string) =>
  defineSkill({
    id: 'release-parcel',
    version,
    description: 'Lets a parcel go.',
    input: z.object({ parcel_id: z.string(), parcel_state: z.string() }),
    artifact: z.object({ reference: z.string() }),
    produces: [{ kind: 'released', pointer: '/reference' }],
    risk: 'effect',
    actions: ['parcels:release'],
    effectActions: ['parcels:release'],
    resources: [{ type: 'parcel', input: 'parcel_id' }],
    purposes: ['parcel_release'],
    tools: [],
    evidence: { anchorTypes: ['parcel-release'], countMin: 1 },
    approval: 'person',
  });

const stateWorker = defineWorker(parcelState, {
  name: 'parcel-reader',
  run: async ({ parcel_id }, context) => {
    const [parcel] = await context.call(findParcel, { parcel_id });
    if (parcel === undefined) return { status: 'no_data', evidence: [], missing: [parcel_id] };
    return { status: 'completed', data: { state: parcel.record.state }, evidence: [parcel.evidence] };
  },
});
const noteWorkerV1 = defineWorker(noteV1, {
  name: 'note-reader-1',
  run: async ({ parcel_id }, context) => {
    const [note] = await context.call(findNote, { parcel_id });
    if (note === undefined) return { status: 'no_data', evidence: [], missing: [parcel_id] };
    return { status: 'completed', data: { text: note.record.text }, evidence: [note.evidence] };
  },
});
const noteWorkerV2 = defineWorker(noteV2, {
  name: 'note-reader-2',
  run: async ({ parcel_id }, context) => {
    const [note] = await context.call(findNote, { parcel_id });
    if (note === undefined) return { status: 'no_data', evidence: [], missing: [parcel_id] };
    const { text, signed_by } = note.record;
    return { status: 'completed', data: { text, signed_by }, evidence: [note.evidence] };
  },
});

function teamOf(version: Version, now: () => string): TeamDefinition {
  const record = (parcel_id: string, tenant: string, data: object) => [
    { id: parcel_id, version: 'v3', tenant, observedAt: now(), data: { parcel_id, ...data } as never },
  ];
  const notes = { v1: [noteWorkerV1], v2: [noteWorkerV1, noteWorkerV2], v3: [noteWorkerV2] }[version];
  return defineTeam('parcels', {
    version: { v1: '1.0.0', v2: '2.0.0', v3: '3.0.0' }[version],
    description: 'Knows where parcels are.',
    workers: [stateWorker, ...notes],
    contractsOnly: [releaseOf(version === 'v2' ? '2.0.0' : '1.0.0')],
    mcpServers: [
      mcpServer('parcel-records', {
        version: '1.0.0',
        tools: [
          serveTool(findParcel, ({ parcel_id }, { tenant }) => record(parcel_id, tenant, { state: 'at_customs' })),
          serveTool(findNote, ({ parcel_id }, { tenant }) =>
            record(parcel_id, tenant, { text: 'Handed to the carrier.', signed_by: 'gate-4' }),
          ),
        ],
      }),
    ],
    tenants: ['t9'],
  });
}

const words: Readonly<Record<Version, string>> = {
  v1: 'The note says {text}',
  v2: 'As noted: {text}',
  v3: 'As noted: {text}',
};

function goalOf(version: Version) {
  return defineGoalKind({
    kind: 'parcel_release',
    version: version === 'v1' ? '1.0.0' : '2.0.0',
    subject: { type: 'parcel', entity: 'parcel_id' },
    recognise: { en: [['\\brelease\\b']] },
    entities: [
      { kind: 'parcel_id', pattern: '\\bP-\\d+\\b', cardinality: 'one', question: { en: 'Which parcel is meant?' } },
    ],
    outputs: [
      { kind: 'parcel_state', required: true },
      { kind: 'released', required: true },
      { kind: 'release_note', required: true },
    ],
    claims: [
      {
        key: 'note',
        kind: 'fact',
        output: 'release_note',
        sentence: { en: words[version] },
        slots: { text: { anchorType: 'parcel-note', pointer: '/text', format: 'quote' } },
      },
    ],
  });
}

/** Keeps each release under its key in one file, which is the owner. */
function gate({ directory, clock }: EffectContext): EffectTarget {
  const path = join(directory, 'gate.json');
  const read = (): Record<string, { resource: string; at: string }> =>
    existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof read>) : {};
  return {
    name: 'gate',
    action: 'parcels:release',
    resourceType: 'parcel',
    evidenceType: 'parcel-release',
    presentational: [],
    precondition: 'owner',
    authoritativeAbsence: true,
    validate: (parameters) => ({ ok: true, value: parameters as never }),
    read: async (resource) => ({ version: 'v1', record: { resource } }),
    apply: async ({ action, idempotencyKey }) => {
      const all = read();
      all[idempotencyKey] ??= { resource: action.resource, at: clock.now() };
      writeFileSync(path, JSON.stringify(all));
      return { outcome: 'applied' };
    },
    readBack: async (key, action) => {
      const found = read()[key];
      if (found === undefined) return { found: 'absent' };
      const reference = `gate-${action.resource.slice('parcel:'.length)}`;
      const record = { reference, resource: action.resource };
      return { found: 'applied', reference, version: 'v2', appliedAt: found.at, record, data: { reference } };
    },
    postcondition: () => [],
  };
}

/** `module` is the one that exports this very version: the teams' processes load it. */
export function parcelCase(version: Version, module: string): CaseDefinition {
  return defineCase({
    name: 'parcels',
    module,
    goalKinds: [goalOf(version)],
    teams: {
      parcels:
        async () =>
        ({ now }) =>
          teamOf(version, now),
    },
    effectTargets: async () => (context) => [gate(context)],
    workloadActions: ['parcels:read', 'parcels:release'],
  });
}
