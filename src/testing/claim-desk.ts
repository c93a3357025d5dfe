/** A small team with one skill, one server and three tools, whose worker and records a test chooses. */
import type { Dispatch } from '#contracts/dispatch.ts';
import { digestOf } from '#kernel/digest.ts';
import type {
  TeamDefinition,
  ToolRecord,
  WorkerContext,
  WorkerEndpoint,
  WorkerResult,
} from '#ports/team-definition.ts';
import { type AgenticWorkerOptions, defineAgenticWorker } from '#runtime/define-agentic-worker.ts';
import { defineSkill } from '#runtime/define-skill.ts';
import { defineTeam } from '#runtime/define-team.ts';
import { defineTool, serveTool } from '#runtime/define-tool.ts';
import { type DefinedWorker, defineWorker } from '#runtime/define-worker.ts';
import { mcpServer } from '#runtime/mcp-server.ts';
import { z } from 'zod';

/** The time at which tests of the claim desk begin. */
export const NOW = '2026-08-01T09:00:00.000Z';
const purposes = ['claim_investigation'];

const claimRecord = z.object({ status: z.string(), missing: z.array(z.string()) });
/** Reads one claim. */
export const getClaim = defineTool({
  server: 'claims-db',
  name: 'get_claim',
  version: '1.0.0',
  description: 'A claim.',
  input: z.object({ claim_id: z.string() }),
  record: claimRecord,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'claim',
  actions: ['claims:read'],
  purposes,
});
/** Reads the notes of a claim: records of another type than the resource. */
export const listNotes = defineTool({
  server: 'claims-db',
  name: 'list_notes',
  version: '1.0.0',
  description: 'Notes of a claim.',
  input: z.object({ claim_id: z.string() }),
  record: z.object({ text: z.string() }),
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'note',
  actions: ['claims:read'],
  purposes,
});
/** Changes a claim. */
export const setStatus = defineTool({
  server: 'claims-db',
  name: 'set_status',
  version: '1.0.0',
  description: 'Changes a claim.',
  input: z.object({ claim_id: z.string() }),
  record: claimRecord,
  resource: { type: 'claim', argument: 'claim_id' },
  source: 'claims-db',
  anchorType: 'claim',
  actions: ['claims:write'],
  purposes,
  sideEffect: 'external',
});

const about = {
  id: 'claim-status',
  version: '1.0.0',
  description: 'Why a claim is not completed.',
  input: z.object({ claim_id: z.string() }),
  artifact: claimRecord,
  requires: [{ name: 'claim_id', kind: 'claim_id' }],
  produces: [{ kind: 'claim_status', pointer: '' }],
  risk: 'read_only',
  actions: ['claims:read', 'claims:write'],
  resources: [{ type: 'claim', input: 'claim_id' }],
  purposes,
  evidence: { countMin: 1 },
} as const;
const skill = defineSkill({ ...about, tools: [getClaim, listNotes, setStatus] });
/** The same for a model: it may read, and has tokens. */
export const agentSkill = defineSkill({
  ...about,
  tools: [getClaim, listNotes],
  budget: { toolCallCountMax: 4, modelTokenCountMax: 1_000 },
});

export type Claim = z.infer<typeof claimRecord>;
/** How the desk's worker works. */
export type Run = (input: { claim_id: string }, context: WorkerContext) => Promise<WorkerResult<Claim>>;

/** A worker that reads the claim and reports it. */
export const reading: Run = async ({ claim_id }, context) => {
  const [claim] = await context.call(getClaim, { claim_id });
  if (claim === undefined) return { status: 'no_data', evidence: [], missing: ['claim'] };
  return { status: 'completed', data: claim.record, evidence: [claim.evidence] };
};

/** C-102 as it waits for a document. */
export const pending: ToolRecord<Claim> = {
  id: 'C-102',
  version: 'v17',
  tenant: 't9',
  observedAt: '2026-07-22T14:11:09Z',
  data: { status: 'pending_documents', missing: ['accident_report'] },
};

/** What a test may choose. */
export interface DeskSetting {
  readonly run?: Run;
  /** A model in place of `run`. */
  readonly agent?: Partial<AgenticWorkerOptions> & Pick<AgenticWorkerOptions, 'model'>;
  /** What get_claim returns, however malformed. */
  readonly records?: readonly unknown[];
  readonly notes?: readonly ToolRecord<{ text: string }>[];
}

/** The team and its worker. */
export function claimDesk(setting: DeskSetting = {}): {
  readonly team: TeamDefinition;
  readonly worker: WorkerEndpoint;
} {
  const worker =
    setting.agent === undefined
      ? defineWorker(skill, { name: 'status-reader', run: setting.run ?? reading })
      : agentOf(setting.agent);
  const team = defineTeam('claims', {
    version: '1.0.0',
    description: 'Claims.',
    workers: [worker],
    mcpServers: [
      mcpServer('claims-db', {
        version: '1.0.0',
        tools: [
          serveTool(getClaim, () => (setting.records ?? [pending]) as never),
          serveTool(listNotes, () => setting.notes ?? []),
          serveTool(setStatus, () => [pending]),
        ],
      }),
    ],
    policy: ['claims:read', 'claims:write'].map((action) => ({
      actor: 'supervisor',
      action,
      resourceType: 'claim',
      purpose: 'claim_investigation',
      tenants: ['t9'],
    })),
  });
  return { team, worker };
}

function agentOf(options: NonNullable<DeskSetting['agent']>): DefinedWorker {
  return defineAgenticWorker(agentSkill, {
    name: 'status-agent',
    prompt: 'Find out why the claim is not completed.',
    stepCountMax: 6,
    tokenCountMax: 1_000,
    repeatCountMax: 1,
    ...options,
  });
}

/** A dispatch of the desk's skill for C-102 as control would send it, with what a test changes. */
export function dispatched(changed: Partial<Dispatch> = {}): Dispatch {
  return {
    contractVersion: '1.0.0',
    dispatchId: 'dsp_central',
    tenant: 't9',
    subject: 'requester@t9',
    runId: 'run_central',
    goalId: 'goal_1',
    planId: 'plan_1',
    planVersion: 1,
    planDigest: digestOf('plan'),
    stepId: 's2',
    attempt: 1,
    team: 'claims',
    skillId: 'claim-status',
    skillVersion: '1.0.0',
    purpose: 'claim_investigation',
    actions: ['claims:read', 'claims:write'],
    forbiddenActions: ['notify:send'],
    resources: ['claim:C-102'],
    budget: { modelTokenCountMax: 0, toolCallCountMax: 3, timeoutMs: 3_000 },
    deadlineAt: '2026-08-01T09:00:03.000Z',
    language: 'en',
    input: { claim_id: 'C-102' },
    inputDigest: digestOf({ claim_id: 'C-102' }),
    ...changed,
  };
}
