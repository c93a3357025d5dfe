/**
 * `caseops/testing`: for tests of users. Seeded time and ids; a team's workers with fake tools; the kernel by given, when, then; scripted
 * stand-ins for models; and the simulator, which alone has the real leases and guards.
 */
export { seededClock, type SeededClock } from './testing/seeded-clock.ts';
export { seededIds } from './testing/seeded-ids.ts';
export { testTeam, type TeamHarness, type TeamHarnessOptions, type TeamRun } from './testing/test-team.ts';
export {
  fakeToolHost,
  type FakeToolHost,
  type FakeToolHostOptions,
  type FakeTools,
  type SeenCall,
} from './testing/fake-tools.ts';
export { eventsOf, given, type Decided, type Given, type GivenEvent } from './testing/given.ts';
export {
  createSimulator,
  type Simulated,
  type Simulator,
  type SimulatorOptions,
} from './testing/simulation/simulate.ts';
export { shrink, type Shrunk } from './testing/simulation/shrink.ts';
export type { Scenario } from './testing/simulation/scenario.ts';
export type { Fault } from './testing/simulation/fault.ts';
export type { Person } from './testing/simulation/person.ts';
export type { Violation } from './testing/simulation/violation.ts';
export type { Variant } from './testing/simulation/world.ts';
export { createMemoryTarget, type MemoryTarget, type MemoryTargetOptions } from './testing/memory-effect-target.ts';
export type { SimulatedAsk, SimulatedCase } from './testing/simulation/simulated-case.ts';
export { builtInPlanner, scriptedPlanner, scriptedProposer } from './testing/scripted.ts';
export type { PlannerTurn } from '#control/scripted-planner.ts';
export type { ProposerTurn, ScriptedProposer } from '#execution/scripted-proposer.ts';
export type { FakeOutcome } from './testing/fake-tool-host.ts';
export type { Command, RunRef } from '#contracts/command.ts';
export type { Dispatch } from '#contracts/dispatch.ts';
export type { EventDraft } from '#contracts/event.ts';
export type { LeaseClaims } from '#contracts/lease.ts';
export type { Ids } from '#ports/ids.ts';
export type { HeldLease } from '#ports/issuer.ts';
export type { Planner, PlannerRequest } from '#ports/model.ts';
export type { ToolHost, ToolOutcome } from '#ports/tool-host.ts';
