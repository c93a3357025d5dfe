/** What the parts of one simulated world share. */
import type { RunKernel } from '#drivers/local/run-kernel.ts';
import type { EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import type { Clock } from '#ports/clock.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Ids } from '#ports/ids.ts';
import type { Signer } from '#ports/signer.ts';
import type { Store } from '#ports/store.ts';
import type { TeamDefinition, McpServerDefinition } from '#ports/team-definition.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import type { LeaseExchange } from '#ports/issuer.ts';
import type { TeamAnnouncement, TeamTransport } from '#ports/team-transport.ts';
import type { MemoryTarget } from '../memory-effect-target.ts';
import type { Dice } from './dice.ts';
import type { FaultBook } from './fault-book.ts';
import type { Network } from './network.ts';
import type { ProcessLife } from './process-life.ts';
import type { SimulatedCase } from './simulated-case.ts';
import type { Keys } from './stub-signer.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Witness } from './witness.ts';

export const ISSUER = 'https://issuer.simulation.invalid';
export const TOKEN_ENDPOINT = `${ISSUER}/token`;

/**
 * A seeded mistake, put around a part from outside. Each function gets the part and returns it broken; shipped code has no flag for it.
 * To show that the invariants' checks notice.
 */
export interface Variant {
  readonly kernel?: (kernel: RunKernel) => RunKernel;
  readonly store?: (store: Store) => Store;
  readonly issuerSigner?: (signer: Signer) => Signer;
  readonly exchange?: (exchange: LeaseExchange, kept: Map<string, unknown>) => LeaseExchange;
  readonly owners?: (clock: Clock) => readonly MemoryTarget[];
  readonly target?: (target: EffectTarget) => EffectTarget;
  readonly writer?: (writer: EffectWriter, targets: readonly EffectTarget[], store: Store) => EffectWriter;
  readonly toolServer?: (server: McpServerDefinition) => McpServerDefinition;
}

/** A supervisor that is alive. */
export interface SupervisorProcess {
  readonly role: string;
  readonly life: ProcessLife;
  readonly desk: RunDesk;
  readonly issuer: EmbeddedIssuer;
}

/** A team that is alive, as one connection to it sees it. */
export interface TeamProcess {
  readonly life: ProcessLife;
  readonly transport: TeamTransport;
}

export interface World {
  readonly seed: number;
  readonly startMs: number;
  readonly lockTtlMs: number;
  readonly of: SimulatedCase;
  readonly variant: Variant;
  readonly time: VirtualTime;
  /** For latencies and choices while the world runs. */
  readonly dice: Dice;
  readonly ids: Ids;
  readonly keys: Keys;
  readonly book: FaultBook;
  readonly network: Network;
  readonly witness: Witness;
  readonly report: Witness['report'];
  readonly teams: readonly TeamDefinition[];
  readonly announcements: ReadonlyMap<string, TeamAnnouncement>;
  readonly targets: readonly MemoryTarget[];
  readonly stores: { readonly supervisor: Store; readonly team: (name: string) => Store };
  /** Who is alive. */
  readonly supervisors: Map<string, SupervisorProcess>;
  readonly teamProcesses: Map<string, TeamProcess>;
  /** What a broken variant remembers across processes. */
  readonly variantMemory: Map<string, unknown>;
  /** The world does not end before: something is still to come then. */
  lastMs: number;
  /** Ends a process now and starts it anew later. */
  crash(role: string, life: ProcessLife, downMs: number): void;
}
