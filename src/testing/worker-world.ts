/** One worker run of the claim desk with authority and tools in memory. */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { LeaseClaims } from '#contracts/lease.ts';
import type { ProposalRecord } from '#contracts/tool-proposal.ts';
import { runWorker, type WorkerJob, type WorkerOutcome } from '#execution/worker-run.ts';
import { claimDesk, dispatched, NOW, type DeskSetting } from './claim-desk.ts';
import { createFakeAuthority } from './fake-authority.ts';
import { createFakeToolHost, type FakeToolHostOptions } from './fake-tool-host.ts';
import { seededClock, type SeededClock } from './seeded-clock.ts';
import { seededIds } from './seeded-ids.ts';

const AUDIENCE = 'https://claims.example';

export interface WorkerSetting extends DeskSetting {
  readonly dispatch?: Partial<Dispatch>;
  readonly fault?: FakeToolHostOptions['fault'];
  /** Uses of the step's lease; default: as many as calls are planned. */
  readonly use?: LeaseClaims['use'];
  /** What a model proposed in this attempt before. */
  readonly proposed?: WorkerJob['proposed'];
  /** Before a proposal is in the log; a rejection keeps it out. */
  readonly note?: WorkerJob['note'];
  readonly clock?: SeededClock;
}

/** A worker run with everything in memory; `outcome` is what it gave. */
export async function workerWorld(setting: WorkerSetting = {}, signal = new AbortController().signal) {
  const clock = setting.clock ?? seededClock(Date.parse(NOW));
  const ids = seededIds(1);
  const { team, worker } = claimDesk(setting);
  const authority = createFakeAuthority({ clock, ids });
  const dispatch = dispatched(setting.dispatch);
  const lease = authority.lease(dispatch, {
    audience: AUDIENCE,
    locations: ['mcp:claims-db'],
    workload: 'spiffe://caseops.example/supervisor',
    ...(setting.use === undefined ? {} : { use: setting.use }),
  });
  const toolHost = createFakeToolHost({
    servers: team.mcpServers,
    clock,
    claimsOf: (held) => authority.claimsOf(held),
    ...(setting.fault === undefined ? {} : { fault: setting.fault }),
  });
  const [contract] = team.skills;
  if (contract === undefined) throw new Error('The claim desk has a skill.');
  const noted: ProposalRecord[] = [];
  const running = runWorker({
    dispatch,
    taskId: 'task-1',
    contextId: 'context-1',
    lease: {
      claims: lease.lease,
      held: {
        token: lease.token,
        leaseId: lease.lease.jti,
        audience: AUDIENCE,
        expiresAt: lease.lease.exp,
        prove: () => '',
      },
    },
    worker: worker.name,
    toolHost,
    exchange: authority.exchange,
    clock,
    ids,
    signal,
    skill: contract,
    endpoint: worker,
    binding: {
      dispatchId: dispatch.dispatchId,
      stepId: 'w1',
      planVersion: 1,
      attempt: 1,
      taskId: 'task-1',
      contextId: 'context-1',
      leaseId: lease.lease.jti,
    },
    producer: { team: 'claims', workload: 'spiffe://caseops.example/team/claims', worker: worker.name },
    proposed: setting.proposed ?? { proposalCount: 0, modelTokenCount: 0 },
    note: async (proposal) => {
      await setting.note?.(proposal);
      noted.push(proposal);
    },
  });
  return { clock, toolHost, authority, running, noted };
}

/** What a run with these settings gave. */
export async function outcomeOf(setting: WorkerSetting): Promise<WorkerOutcome> {
  return (await workerWorld(setting)).running;
}

/** The error's code, or that there is none. */
export function errorOf(outcome: WorkerOutcome): string {
  return outcome.ok ? `an artifact with status ${outcome.artifact.status}` : outcome.error.code;
}
