/** What a simulation is of: teams, goals, people and owners of effects. A case of one's own is simulated by giving these. */
import type { RootGrant } from '#contracts/lease.ts';
import type { Evidence } from '#contracts/evidence.ts';
import type { ApprovalRow } from '#control/approval-policy.ts';
import type { Clock } from '#ports/clock.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { MemoryTarget } from '../memory-effect-target.ts';

/** Something a person asks for. */
export interface SimulatedAsk {
  readonly text: string;
  /** Whose request it is; default: the first requester. */
  readonly grant: RootGrant;
  /** What this person answers to a question, by what the question wants. */
  readonly answers?: Readonly<Record<string, string>>;
}

export interface SimulatedCase {
  readonly name: string;
  /** Called once per simulated world: what a team remembers is kept in its store, not here. */
  readonly teams: (clock: Clock) => readonly TeamDefinition[];
  readonly goalKinds: readonly GoalKind[];
  /** Drawn from by the seed. */
  readonly asks: readonly [SimulatedAsk, ...SimulatedAsk[]];
  /** Everybody with a grant, requesters and approvers. */
  readonly grants: readonly RootGrant[];
  /** Who decides, by tenant of the approval. */
  readonly approver: (tenant: string) => RootGrant;
  readonly workloadActions: readonly string[];
  /** Owners of effects in memory: they outlive every process, and are counted. */
  readonly targets?: (clock: Clock) => readonly MemoryTarget[];
  readonly approvals?: readonly ApprovalRow[];
  /** Whose a piece of evidence really is, told by the case's own data; undefined: it cannot be told. For INV-14. */
  readonly ownerOf?: (evidence: Evidence) => string | undefined;
}
