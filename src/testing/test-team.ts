/** A team's workers without processes, network or cryptography: leases are claims in memory, narrowed by the rule that the issuer uses. */
import type { Artifact } from '#contracts/artifact.ts';
import { DISPATCH_VERSION, type Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError, type ErrorRecord } from '#contracts/error.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { ProposalRecord } from '#contracts/tool-proposal.ts';
import { runWorker } from '#execution/worker-run.ts';
import { digestOf } from '#kernel/digest.ts';
import type { TeamDefinition, WorkerEndpoint } from '#ports/team-definition.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { createFakeAuthority, type FakeAuthority } from './fake-authority.ts';
import { fakeToolHost, type FakeTools, type SeenCall } from './fake-tools.ts';
import { seededClock, type SeededClock } from './seeded-clock.ts';
import { seededIds } from './seeded-ids.ts';

export interface TeamHarnessOptions {
  /** What its tools answer; default: their own handlers. */
  readonly tools?: FakeTools;
  /** For whom; default tenant `t9`, `requester@t9`. */
  readonly tenant?: string;
  readonly subject?: string;
  /**
   * Of the seeded clock, epoch milliseconds. Default: a second after now, so that records which a handler observes at the machine's
   * time are not from a time to come; give one where a test compares times.
   */
  readonly startMs?: number;
  /** ISO 639-1; default `en`. */
  readonly language?: string;
}

/** What a worker gave. `calls` reached the tools, in order; refused ones did not. */
export type TeamRun = {
  readonly calls: readonly SeenCall[];
  /** What the model of an agentic worker proposed, and what was decided of it. */
  readonly proposals: readonly ProposalRecord[];
} & ({ readonly ok: true; readonly artifact: Artifact } | { readonly ok: false; readonly error: ErrorRecord });

export interface TeamHarness {
  readonly clock: SeededClock;
  /**
   * Runs the worker of a skill for one dispatch, as the team would: input checked, leases exchanged per tool server, records bound to
   * evidence, artifact checked. `over` changes the dispatch: fewer actions, another budget, a nearer deadline.
   */
  run(skillId: string, input: Readonly<Record<string, unknown>>, over?: Partial<Dispatch>): Promise<TeamRun>;
}

/** A second ahead of the machine: a handler that runs now observes in the past. */
const AHEAD_MS = 1_000;

/** Throws ERR_NOT_FOUND for a skill that nobody of the team can run. */
export function testTeam(team: TeamDefinition, options: TeamHarnessOptions = {}): TeamHarness {
  const clock = seededClock(options.startMs ?? systemClock.nowMs() + AHEAD_MS);
  const ids = seededIds('team');
  let taskCount = 0;
  return {
    clock,
    run: async (skillId, input, over = {}) => {
      const { skill, endpoint } = find(team, skillId);
      const authority = createFakeAuthority({ clock, ids });
      const host = fakeToolHost(team.mcpServers, {
        clock,
        claimsOf: (lease) => authority.claimsOf(lease),
        ...options.tools,
      });
      const dispatch = { ...dispatchOf(skill, input, { options, clock, ids }), ...over };
      const proposals: ProposalRecord[] = [];
      const outcome = await runWorker({
        note: async (proposal) => void proposals.push(proposal),
        proposed: { proposalCount: 0, modelTokenCount: 0 },
        ...stepOf(team, { dispatch, authority, taskCount: ++taskCount }),
        worker: endpoint.name,
        toolHost: host,
        exchange: authority.exchange,
        clock,
        ids,
        signal: new AbortController().signal,
        skill,
        endpoint,
      });
      const seen = { calls: host.calls, proposals };
      return outcome.ok
        ? { ok: true, artifact: outcome.artifact, ...seen }
        : { ok: false, error: outcome.error, ...seen };
    },
  };
}

function find(team: TeamDefinition, skillId: string): { skill: SkillContract; endpoint: WorkerEndpoint } {
  const skill = team.skills.find((candidate) => candidate.skillId === skillId);
  const endpoint = team.workers.find((candidate) => candidate.skillId === skillId);
  if (skill !== undefined && endpoint !== undefined) return { skill, endpoint };
  throw new CaseOpsError(
    'ERR_NOT_FOUND',
    `Expected a skill of team ${team.name} that a worker runs (${team.workers.map((worker) => worker.skillId).join(', ')}), got ${skillId}.`,
    { at: 'testing' },
  );
}

const SUPERVISOR = 'spiffe://caseops.test/supervisor';

/** Asks for all that the skill may do, for its first purpose, on the resources that the input names. */
function dispatchOf(
  skill: SkillContract,
  given: Readonly<Record<string, unknown>>,
  by: {
    readonly options: TeamHarnessOptions;
    readonly clock: SeededClock;
    readonly ids: ReturnType<typeof seededIds>;
  },
): Dispatch {
  const { tenant = 't9', subject = `requester@${tenant}`, language = 'en' } = by.options;
  const input = given as Dispatch['input'];
  return {
    contractVersion: DISPATCH_VERSION,
    dispatchId: by.ids.next('dsp'),
    tenant,
    subject,
    runId: by.ids.next('run'),
    goalId: by.ids.next('goal'),
    planId: by.ids.next('plan'),
    planVersion: 1,
    planDigest: digestOf('plan'),
    stepId: 's1',
    attempt: 1,
    team: skill.team,
    skillId: skill.skillId,
    skillVersion: skill.version,
    purpose: skill.purposes[0] ?? '',
    actions: skill.actions,
    forbiddenActions: [],
    resources: skill.resources.flatMap(({ type, input: name }) =>
      Object.hasOwn(given, name) ? [`${type}:${String(given[name])}`] : [],
    ),
    budget: skill.stepBudget,
    deadlineAt: new Date(by.clock.nowMs() + skill.timeoutMs).toISOString(),
    language,
    input,
    inputDigest: digestOf(input),
  };
}

function stepOf(
  team: TeamDefinition,
  by: { readonly dispatch: Dispatch; readonly authority: FakeAuthority; readonly taskCount: number },
) {
  const { dispatch, authority } = by;
  const audience = `https://${team.name}.example`;
  const lease = authority.lease(dispatch, {
    audience,
    locations: team.mcpServers.map(({ name }) => `mcp:${name}`),
    workload: SUPERVISOR,
    datatypes: team.skills.find(({ skillId }) => skillId === dispatch.skillId)?.datatypes ?? [],
  });
  const { dispatchId, stepId, planVersion, attempt } = dispatch;
  const task = { taskId: `task-${by.taskCount}`, contextId: `context-${by.taskCount}` };
  return {
    dispatch,
    ...task,
    lease: {
      claims: lease.lease,
      held: { token: lease.token, leaseId: lease.lease.jti, audience, expiresAt: lease.lease.exp, prove: () => '' },
    },
    binding: { dispatchId, stepId, planVersion, attempt, ...task, leaseId: lease.lease.jti },
    producer: { team: team.name, workload: `spiffe://caseops.test/team/${team.name}`, worker: dispatch.skillId },
  };
}
