/** A team supervisor of the claim desk on a real store and driver, with authority and tools in memory. */
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createTeamSupervisor } from '#execution/team-supervisor.ts';
import { digestOf } from '#kernel/digest.ts';
import type { TaskCaller, TaskSubmission } from '#ports/team-door.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { claimDesk, dispatched, NOW, type DeskSetting } from './claim-desk.ts';
import { createFakeAuthority } from './fake-authority.ts';
import { createFakeToolHost, type FakeToolHostOptions } from './fake-tool-host.ts';
import { seededClock, type SeededClock } from './seeded-clock.ts';
import { seededIds } from './seeded-ids.ts';

const DESK_AUDIENCE = 'https://claims.example/a2a';
export const DESK_CALLER: TaskCaller = {
  workload: 'spiffe://caseops.example/supervisor',
  tenant: 't9',
  subject: 'requester@t9',
};

export interface TeamSetting extends DeskSetting {
  readonly fault?: FakeToolHostOptions['fault'];
  /** Default: in memory. */
  readonly path?: string;
  readonly clock?: SeededClock;
  /** Keeps the ids of two processes on one store apart. */
  readonly seed?: number;
}

/** Dispose it after the test. `submission` makes what a protocol would hand in. */
export function teamWorld(setting: TeamSetting = {}) {
  const clock = setting.clock ?? seededClock(Date.parse(NOW));
  const ids = seededIds(setting.seed ?? 1);
  const { team } = claimDesk(setting);
  const store = openSqliteStore({ path: setting.path ?? ':memory:', clock });
  const driver = createLocalDriver({ store, clock, ids, owner: 'spiffe://caseops.example/team/claims' });
  const authority = createFakeAuthority({ clock, ids });
  const toolHost = createFakeToolHost({
    servers: team.mcpServers,
    clock,
    claimsOf: (held) => authority.claimsOf(held),
    ...(setting.fault === undefined ? {} : { fault: setting.fault }),
  });
  const door = createTeamSupervisor({
    team,
    driver,
    store,
    clock,
    ids,
    exchange: authority.exchange,
    toolHost,
    card: deskCard(team.version),
  });
  const submission = (changed: Partial<Dispatch> = {}, over: Partial<TaskSubmission> = {}): TaskSubmission => {
    const dispatch = dispatched(changed);
    const lease =
      over.lease ??
      authority.lease(dispatch, {
        audience: DESK_AUDIENCE,
        locations: ['mcp:claims-db'],
        workload: DESK_CALLER.workload,
      });
    return {
      caller: DESK_CALLER,
      dispatch,
      messageId: dispatch.dispatchId,
      payloadDigest: digestOf(dispatch),
      contextId: undefined,
      lease,
      consumption: authority.consumption(lease),
      ...over,
    };
  };
  return {
    team,
    clock,
    store,
    driver,
    authority,
    toolHost,
    door,
    submission,
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

function deskCard(version: string): CapabilityCard {
  return {
    team: 'claims',
    cardName: 'Claims',
    cardVersion: version,
    protocolVersion: '1.0',
    verifiedBy: 'thumbprint-of-the-claims-team',
    cardDigest: digestOf('card'),
    interfaces: [{ url: DESK_AUDIENCE, binding: 'HTTP+JSON' }],
    audience: DESK_AUDIENCE,
    workload: 'spiffe://caseops.example/team/claims',
  };
}
