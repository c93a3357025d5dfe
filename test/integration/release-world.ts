/**
 * The release case at work in one process: its own teams' workers and tools, a real store, driver, issuer, control, writer and flag file,
 * and a seeded clock. Only the wire between supervisor and teams is left out.
 */
import { healthTeam } from '../../cases/release/health/team.ts';
import type { HealthSource } from '../../cases/release/health/health-source.ts';
import { releaseCase } from '../../cases/release/case.ts';
import { promotionTarget } from '../../cases/release/promotion-target.ts';
import { runSkill } from '../../cases/release/run-skill.ts';
import { createEmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { RunView } from '#contracts/run-view.ts';
import { createAdmissionQueue } from '#control/admission-queue.ts';
import { createApprovalPolicy } from '#control/approval-policy.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { createEffectWriter } from '#effects/writer.ts';
import { WRITER_AUDIENCE } from '#effects/writer-options.ts';
import { explainClaims } from '#evidence/why.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { TeamAnnouncement } from '#ports/team-transport.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { createScriptedTeam, type Finding } from '#testing/scripted-team.ts';
import { seededClock } from '#testing/seeded-clock.ts';
import { seededIds } from '#testing/seeded-ids.ts';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SUPERVISOR = 'spiffe://caseops.test/supervisor';
const ISSUER = 'https://issuer.test';
const START_MS = Date.UTC(2026, 6, 23, 9, 0, 0);

export const OPERATOR: RootGrant = {
  sub: 'requester@tenant-7',
  tenant: 'tenant-7',
  purposes: [...releaseCase.requester.purposes],
  actions: [...releaseCase.requester.actions],
  may_act: { sub: SUPERVISOR },
  roles: ['requester'],
};
export const APPROVER: RootGrant = { ...OPERATOR, sub: 'approver@tenant-7', actions: [], roles: ['approver'] };

export interface ReleaseWorld extends AsyncDisposable {
  readonly desk: RunDesk;
  /** Submits and advances time until the run has ended or waits. */
  ask(text: string): Promise<RunView>;
  settle(runId: string): Promise<RunView>;
  /** Decides what waits. */
  decide(disposition: 'approved' | 'rejected'): Promise<void>;
  /** The tenant's flag file as it is. */
  flags(): string;
  writeFlags(text: string): void;
  /** Changes what a branch says before it is delivered. */
  tamper: ((dispatch: Dispatch, finding: Finding) => Finding) | undefined;
}

export async function releaseWorld(health?: HealthSource): Promise<ReleaseWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'release-'));
  const flagPath = join(directory, 'flags', 'tenant-7.flagd.json');
  const clock = seededClock(START_MS);
  const ids = seededIds('release');
  const store = openSqliteStore({ path: ':memory:', clock });
  const driver = createLocalDriver({ store, clock, ids, owner: SUPERVISOR });
  const keys = { issuer: generateSigner(), own: generateSigner() };
  const issuer = createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: `${ISSUER}/token`,
    signer: keys.issuer,
    clock,
    ids,
    supervisor: { workload: SUPERVISOR, clientId: 'supervisor', signer: keys.own },
    audiences: () => true,
    clients: () => undefined,
    registry: store,
  });
  const grants = (subject: string, tenant: string): RootGrant | undefined =>
    subject === OPERATOR.sub && tenant === OPERATOR.tenant ? OPERATOR : undefined;
  const policy = createApprovalPolicy('release', []);
  const guard = createGuard({
    boundary: 'writer',
    audience: WRITER_AUDIENCE,
    issuers: [{ issuer: ISSUER, keys: [keys.issuer.publicJwk] }],
    clock,
    workloads: (jkt) => (jkt === keys.own.thumbprint ? SUPERVISOR : undefined),
  });
  const targets = [promotionTarget({ directory: join(directory, 'flags'), clock })];
  const shared = { driver, store, issuer, clock, ids, grants, workload: SUPERVISOR };
  const effects = { writer: createEffectWriter({ ...shared, targets, guard, policy }), policy };
  const world: { tamper: ReleaseWorld['tamper'] } = { tamper: undefined };
  const context = { directory, now: () => clock.now() };
  const definitions = await Promise.all(
    Object.entries(releaseCase.teams).map(async ([name, load]) =>
      name === 'health' && health !== undefined
        ? healthTeam(context, health)
        : (await load())({ ...context, directory: join(directory, name) }),
    ),
  );
  const teams = new Map(
    definitions.map((team) => {
      const find = async (dispatch: Dispatch): Promise<Finding | undefined> => {
        const found = await findingOf(team, dispatch);
        return found === undefined ? undefined : (world.tamper?.(dispatch, found) ?? found);
      };
      return [team.name, createScriptedTeam({ announcement: announcementOf(team), clock, ids, store, find })] as const;
    }),
  );
  const capabilities = createCapabilityDirectory({
    teams,
    registered: new Map(definitions.map((team) => [team.name, announcementOf(team)])),
    clock,
    ids,
    workloadActions: releaseCase.workloadActions,
    policyDigest: digestOf('central policy'),
    effectOffers: effects.writer.offers,
  });
  const admission = createAdmissionQueue(
    { runsInFlightMax: 10, runsInFlightPerTenantMax: 10, queueLengthMax: 10 },
    clock,
  );
  store.onCommit((_events, head) => admission.note(head));
  const parts = { ...shared, directory: capabilities, planner: rulesPlanner, admission, effects };
  driver.register('central', createRunHandlers({ ...parts, teams }));
  admission.open();
  const kinds = releaseCase.goalKinds;
  const desk = createRunDesk({
    ...parts,
    intake: createRulesIntake({ kinds, ids }),
    kinds,
    goalsPerMinuteMax: () => 1_000,
    why: (ref, claim) => explainClaims(store, { ref, claim }),
  });
  const settle = async (runId: string): Promise<RunView> => {
    for (let turn = 0; turn < 1_200; turn++) {
      const view = await desk.view(OPERATOR, runId);
      if (view.state === 'ended' || view.state === 'blocked') return view;
      await clock.advance(50);
    }
    return assert.fail(`run ${runId} did not settle in a minute`);
  };
  return {
    desk,
    settle,
    async ask(text) {
      const request = { text, language: undefined, sessionId: undefined, idempotencyKey: undefined };
      return settle((await desk.submit(OPERATOR, request)).view.runId);
    },
    async decide(disposition) {
      const [row] = await desk.approvals(APPROVER, { state: 'pending', runId: undefined, limit: 10 });
      assert.ok(row !== undefined, 'nothing waits for approval');
      await desk.decide(APPROVER, {
        approvalId: row.approvalId,
        digest: row.proposal.actionDigest,
        disposition,
        reason: disposition === 'rejected' ? 'Not today.' : null,
        evidenceInView: undefined,
        channel: 'cli',
      });
    },
    flags: () => readFileSync(flagPath, 'utf8'),
    writeFlags: (text) => writeFileSync(flagPath, text),
    get tamper() {
      return world.tamper;
    },
    set tamper(change) {
      world.tamper = change;
    },
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What the team's own worker finds with the team's own tools. */
async function findingOf(team: TeamDefinition, { skillId, input, tenant }: Dispatch): Promise<Finding | undefined> {
  const ran = await runSkill(team, { skill: skillId, input, tenant });
  const { result } = ran;
  if (result.status !== 'completed') return undefined;
  const cited = ran.observed.find(({ evidence }) => evidence.evidenceId === result.evidence[0]?.evidenceId);
  assert.ok(cited !== undefined, `${skillId} cites nothing`);
  const { anchor, version } = cited.evidence;
  return { data: result.data as Finding['data'], anchor, version, record: cited.record as Finding['record'] };
}

function announcementOf(team: TeamDefinition): TeamAnnouncement {
  const url = `https://${team.name}.test`;
  return {
    card: {
      team: team.name,
      cardName: `Team ${team.name}`,
      cardVersion: team.version,
      protocolVersion: '1.0',
      verifiedBy: `key-of-${team.name}`,
      cardDigest: digestOf(`card of ${team.name}`),
      interfaces: [{ url: `${url}/a2a`, binding: 'HTTP+JSON' }],
      audience: `${url}/a2a`,
      workload: `spiffe://caseops.test/team/${team.name}`,
      toolAudiences: Object.fromEntries(team.mcpServers.map(({ name }) => [name, `${url}/${name}`])),
    },
    skills: [...team.skills],
    policyDigest: team.policyDigest,
  };
}
