/**
 * A team in memory, for tests of control: announces a card, takes dispatches once per id, delivers well-formed artifacts with evidence, and
 * has whatever fault a test gives it. No wire, no worker; the lease is looked at only for its id.
 */
import { ARTIFACT_VERSION, type Artifact } from '#contracts/artifact.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { CaseOpsError, type ErrorRecord, toErrorRecord } from '#contracts/error.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import { artifactDigest } from '#kernel/artifact-acceptance.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Store } from '#ports/store.ts';
import type { TeamAnnouncement, TeamTransport, TeamUpdate } from '#ports/team-transport.ts';

type Json = Artifact['records'][string];

/** What a worker would have found. `anchor` and `version` become the evidence. */
export interface Finding {
  readonly data: Readonly<Record<string, Json>>;
  readonly anchor: string;
  readonly version: string;
  readonly record: Json;
}

export interface ScriptedTeamOptions {
  readonly announcement: TeamAnnouncement;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: Store;
  /** By skill; undefined: nothing found. What it throws fails the task. */
  readonly find: (dispatch: Dispatch) => Finding | undefined | Promise<Finding | undefined>;
}

export interface ScriptedTeam extends TeamTransport {
  /** Dispatches that began work, in order; a repeat of one is not counted. */
  readonly worked: readonly Dispatch[];
  readonly sent: readonly { readonly dispatch: Dispatch; readonly leaseId: string }[];
  readonly cancelled: readonly string[];
  /** Set by a test. */
  faults: {
    /** Neither card nor task: connection refused. */
    down?: boolean;
    announcement?: TeamAnnouncement;
    /** Works so long before it delivers. */
    workMs?: number;
    failWith?: ErrorRecord;
    /** Changes the artifact before its digest is taken. */
    edit?: (artifact: Omit<Artifact, 'contentDigest'>) => Omit<Artifact, 'contentDigest'>;
    cancel?: 'cancelled' | 'not_cancelable' | 'unknown';
    /** Leases that it has seen before. */
    consumed?: ReadonlySet<string>;
  };
}

export function createScriptedTeam(options: ScriptedTeamOptions): ScriptedTeam {
  const { announcement, clock } = options;
  const { team } = announcement.card;
  const tasks = new Map<string, { readonly taskId: string; readonly contextId: string; readonly leaseId: string }>();
  const made = new Map<string, Artifact>();
  const worked: Dispatch[] = [];
  const sent: { dispatch: Dispatch; leaseId: string }[] = [];
  const cancelled: string[] = [];
  const scripted: ScriptedTeam = {
    team,
    worked,
    sent,
    cancelled,
    faults: {},
    discover: () =>
      scripted.faults.down === true
        ? Promise.reject(unreachable(team))
        : Promise.resolve(scripted.faults.announcement ?? announcement),
    async *send(dispatch, lease, signal): AsyncGenerator<TeamUpdate, void, undefined> {
      sent.push({ dispatch, leaseId: lease.leaseId });
      if (scripted.faults.down === true) throw unreachable(team);
      if (scripted.faults.consumed?.has(lease.leaseId) === true) throw consumed(lease);
      const known = tasks.get(dispatch.dispatchId);
      const task = known ?? {
        taskId: `task-${tasks.size + 1}`,
        contextId: `ctx-${tasks.size + 1}`,
        leaseId: lease.leaseId,
      };
      if (known === undefined) worked.push(dispatch);
      tasks.set(dispatch.dispatchId, task);
      yield { kind: 'started', taskId: task.taskId, contextId: task.contextId };
      if (scripted.faults.workMs !== undefined) await clock.sleep(scripted.faults.workMs, signal);
      if (scripted.faults.failWith !== undefined) return yield { kind: 'failed', error: scripted.faults.failWith };
      let artifact = made.get(dispatch.dispatchId);
      try {
        artifact ??= await deliver(options, scripted, { dispatch, task });
      } catch (error) {
        return yield { kind: 'failed', error: toErrorRecord(error, { code: 'ERR_TEAM_FAILED', at: 'worker' }) };
      }
      made.set(dispatch.dispatchId, artifact);
      yield { kind: 'artifact', artifact, bytes: new TextEncoder().encode(JSON.stringify(artifact)) };
    },
    cancel(taskId) {
      cancelled.push(taskId);
      return Promise.resolve(scripted.faults.cancel ?? 'cancelled');
    },
  };
  return scripted;
}

async function deliver(
  options: ScriptedTeamOptions,
  scripted: ScriptedTeam,
  by: {
    readonly dispatch: Dispatch;
    readonly task: { readonly taskId: string; readonly contextId: string; readonly leaseId: string };
  },
): Promise<Artifact> {
  const { dispatch, task } = by;
  const { clock, ids, announcement } = options;
  const skill = announcement.skills.find(({ skillId }) => skillId === dispatch.skillId);
  const childId = await exchange(options, by);
  const finding = await options.find(dispatch);
  const callId = ids.next('call');
  const observed = finding === undefined ? [] : [evidenceOf(finding, { ids, clock, callId, team: scripted.team })];
  const open: Omit<Artifact, 'contentDigest'> = {
    contractVersion: ARTIFACT_VERSION,
    artifactId: ids.next('art'),
    binding: {
      dispatchId: dispatch.dispatchId,
      stepId: dispatch.stepId,
      planVersion: dispatch.planVersion,
      attempt: dispatch.attempt,
      ...task,
    },
    producer: { team: scripted.team, workload: announcement.card.workload, worker: `${dispatch.skillId}-worker` },
    skillId: dispatch.skillId,
    skillVersion: dispatch.skillVersion,
    schemaId: skill?.artifact.schemaId ?? '',
    schemaVersion: skill?.artifact.schemaVersion ?? '1.0.0',
    status: finding === undefined ? 'no_data' : 'completed',
    ...(finding === undefined ? {} : { data: finding.data }),
    evidence: observed,
    records: Object.fromEntries(observed.map((item) => [item.evidenceId, finding?.record ?? null])),
    toolCalls: [toolCall(options, { callId, leaseId: childId, dispatch })],
    missing: finding === undefined ? ['nothing found'] : [],
    errors: [],
    producedAt: clock.now(),
  };
  const edited = scripted.faults.edit?.(open) ?? open;
  return { ...edited, contentDigest: artifactDigest(edited) };
}

function evidenceOf(
  finding: Finding,
  by: { readonly ids: Ids; readonly clock: Clock; readonly callId: ToolCall['callId']; readonly team: string },
): Evidence {
  return {
    evidenceId: by.ids.next('ev'),
    source: `${by.team}-records`,
    anchor: finding.anchor,
    version: finding.version,
    observedAt: by.clock.now(),
    digest: digestOf(finding.record),
    trust: 'authoritative',
    readers: ['internal'],
    callId: by.callId,
  };
}

function toolCall(
  { announcement, clock }: ScriptedTeamOptions,
  by: { readonly callId: ToolCall['callId']; readonly leaseId: string; readonly dispatch: Dispatch },
): ToolCall {
  const skill = announcement.skills.find(({ skillId }) => skillId === by.dispatch.skillId);
  const contract = skill?.toolContracts[0];
  return {
    callId: by.callId,
    server: contract?.server ?? 'none',
    tool: contract?.tool ?? 'none',
    contractVersion: contract?.version ?? '1.0.0',
    contractDigest: contract?.digest ?? digestOf('none'),
    protocolRevision: '2026-07-28',
    serverVersion: '1.0.0',
    leaseId: by.leaseId,
    worker: `${by.dispatch.skillId}-worker`,
    argumentsDigest: by.dispatch.inputDigest,
    resultDigest: digestOf('result'),
    outcome: 'ok',
    startedAt: clock.now(),
    endedAt: clock.now(),
  };
}

/** The row that the issuer would write when the team exchanges its lease. */
async function exchange(
  { store, ids, announcement }: ScriptedTeamOptions,
  by: { readonly dispatch: Dispatch; readonly task: { readonly taskId: string; readonly leaseId: string } },
): Promise<string> {
  const parent = await store.lease(by.dispatch.tenant, by.task.leaseId);
  if (parent === undefined) throw new Error(`lease ${by.task.leaseId} is in no registry`);
  const row: LeaseRow = {
    ...parent,
    leaseId: ids.next('lse'),
    actor: announcement.card.workload,
    audience: Object.values(announcement.card.toolAudiences ?? {})[0] ?? '',
    parent: parent.leaseId,
    depth: 1,
    use: 'count:1',
    taskId: by.task.taskId,
  };
  await store.write([{ table: 'lease', row }]);
  return row.leaseId;
}

function unreachable(team: string): CaseOpsError {
  return new CaseOpsError('ERR_TEAM_UNREACHABLE', `Team ${team} did not answer: connection refused.`, { at: 'a2a' });
}

function consumed(lease: HeldLease): CaseOpsError {
  return new CaseOpsError('ERR_LEASE_CONSUMED', `Lease ${lease.leaseId} was used for another request.`, { at: 'a2a' });
}
