/** A simulated supervisor: the real driver, control, writer and issuer of a deployment, on what this process has of the world. */
import { createEmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { createGuard } from '#authority/guard.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { createAdmissionQueue } from '#control/admission-queue.ts';
import { createApprovalPolicy } from '#control/approval-policy.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { shippedKernel } from '#drivers/local/run-kernel.ts';
import { createEffectWriter } from '#effects/writer.ts';
import { WRITER_AUDIENCE } from '#effects/writer-options.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Driver } from '#ports/driver.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import type { Store } from '#ports/store.ts';
import { SUPERVISOR_WORKLOAD } from '#runtime/workloads.ts';
import { beginLife, type ProcessLife } from './process-life.ts';
import { processStore } from './process-store.ts';
import { repeatingDriver } from './repeating-driver.ts';
import { simulatedTarget } from './simulated-target.ts';
import { simulatedTransport } from './simulated-transport.ts';
import { teamPeer } from './team-process.ts';
import { ISSUER, TOKEN_ENDPOINT, type SupervisorProcess, type World } from './world.ts';

const ADMISSION = { runsInFlightMax: 100, runsInFlightPerTenantMax: 100, queueLengthMax: 100 };

/** Starts one; it takes over what is open, and starts anew when that fails. */
export function startSupervisor(world: World, role: string): void {
  const life = beginLife();
  const clock = life.clock(world.time);
  const store = processStore(world, { role, life, store: world.stores.supervisor });
  const { ids } = world;
  const local = createLocalDriver({
    store,
    clock,
    ids,
    owner: SUPERVISOR_WORKLOAD,
    lockTtlMs: world.lockTtlMs,
    kernel: world.variant.kernel?.(shippedKernel) ?? shippedKernel,
  });
  const driver = repeatingDriver(world, life, local);
  const issuer = openIssuer(world, { life, store });
  const writer = openWriter(world, { life, store, driver, issuer });
  const policy = createApprovalPolicy(world.of.name, world.of.approvals ?? []);
  const effects = { writer, policy };
  const admission = createAdmissionQueue(ADMISSION, clock);
  store.onCommit((_events, head) => admission.note(head));
  const teams = new Map(world.teams.map(({ name }) => [name, simulatedTransport(world, life, name)]));
  const directory = createCapabilityDirectory({
    teams,
    registered: world.announcements,
    clock,
    ids,
    workloadActions: world.of.workloadActions,
    policyDigest: digestOf('the central policy of a simulation'),
    effectOffers: writer.offers,
  });
  const parts = { driver, store, directory, planner: rulesPlanner, clock, ids, admission, effects };
  const workload = SUPERVISOR_WORKLOAD;
  driver.register('central', createRunHandlers({ ...parts, issuer, teams, grants: grantsOf(world), workload }));
  const kinds = world.of.goalKinds;
  const desk = createRunDesk({
    ...parts,
    workload,
    grants: grantsOf(world),
    kinds,
    intake: createRulesIntake({ kinds, ids }),
    goalsPerMinuteMax: () => 1_000,
    why: () => Promise.resolve([]),
  });
  admission.open();
  const process: SupervisorProcess = { role, life, desk, issuer };
  world.supervisors.set(role, process);
  life.onDeath(() => {
    if (world.supervisors.get(role) === process) world.supervisors.delete(role);
  });
  driver.resume('central').catch(() => world.crash(role, life, 500));
}

function grantsOf(world: World): (subject: string, tenant: string) => RootGrant | undefined {
  return (subject, tenant) => world.of.grants.find((grant) => grant.sub === subject && grant.tenant === tenant);
}

function openIssuer(
  world: World,
  { life, store }: { readonly life: ProcessLife; readonly store: Store },
): SupervisorProcess['issuer'] {
  const { keys, ids } = world;
  const signer = keys.of('issuer');
  return createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: TOKEN_ENDPOINT,
    signer: world.variant.issuerSigner?.(signer) ?? signer,
    clock: life.clock(world.time),
    ids,
    supervisor: { workload: SUPERVISOR_WORKLOAD, clientId: 'supervisor', signer: keys.of('supervisor') },
    audiences: () => true,
    clients: (clientId) => {
      const peer = world.teams.find(({ name }) => name === clientId);
      return peer === undefined ? undefined : teamPeer(world, peer);
    },
    registry: store,
    verifier: keys.verifier,
  });
}

function openWriter(
  world: World,
  parts: {
    readonly life: ProcessLife;
    readonly store: Store;
    readonly driver: Driver<RunState>;
    readonly issuer: SupervisorProcess['issuer'];
  },
): EffectWriter {
  const { keys, ids } = world;
  const { life, ...shared } = parts;
  const clock = life.clock(world.time);
  const targets = world.targets.map((owner) => simulatedTarget(world, life, owner));
  const supervisor = keys.of('supervisor').thumbprint;
  const guard = createGuard({
    boundary: 'writer',
    audience: WRITER_AUDIENCE,
    issuers: [{ issuer: ISSUER, keys: [keys.of('issuer').publicJwk] }],
    clock,
    workloads: (jkt) => (jkt === supervisor ? SUPERVISOR_WORKLOAD : undefined),
    verifier: keys.verifier,
  });
  const writer = createEffectWriter({
    ...shared,
    issuer: {
      mintEffect: (request) => {
        const minted = parts.issuer.mintEffect(request);
        world.witness.effectLeased({ life, leaseId: minted.lease.leaseId });
        return minted;
      },
    },
    targets,
    guard,
    policy: createApprovalPolicy(world.of.name, world.of.approvals ?? []),
    grants: grantsOf(world),
    clock,
    ids,
    workload: SUPERVISOR_WORKLOAD,
  });
  return world.variant.writer?.(writer, targets, parts.store) ?? writer;
}
