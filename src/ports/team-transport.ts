/** The only way from control to execution: A2A, or in-process for a domain service that is no agent system. Source: DESIGN §2. */
import type { Artifact } from '#contracts/artifact.ts';
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { Dispatch } from '#contracts/dispatch.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { Digest } from '#contracts/ids.ts';
import type { HeldLease } from './issuer.ts';

export type TeamUpdate =
  | { readonly kind: 'started'; readonly taskId: string; readonly contextId: string }
  /** The artifact as received: parsed against its contract, not yet accepted. */
  | { readonly kind: 'artifact'; readonly artifact: Artifact; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly error: ErrorRecord };

/** What a team announces about itself, verified against its pinned key. */
export interface TeamAnnouncement {
  readonly card: CapabilityCard;
  readonly skills: readonly SkillContract[];
  readonly policyDigest: Digest;
}

export interface TeamTransport {
  readonly team: string;
  /** Reads and verifies the card. Throws CaseOpsError (ERR_TEAM_UNREACHABLE, ERR_DENIED) when it cannot be trusted. */
  discover(signal: AbortSignal): Promise<TeamAnnouncement>;
  /** Sends once per dispatch id: a second send of the same dispatch returns the same task. Ends after artifact or failure. */
  send(dispatch: Dispatch, lease: HeldLease, signal: AbortSignal): AsyncIterable<TeamUpdate>;
  /** Asks the task to stop. "Accepted" is not "stopped": resolves with the task's state as the team tells it. */
  cancel(taskId: string, lease: HeldLease, signal: AbortSignal): Promise<'cancelled' | 'not_cancelable' | 'unknown'>;
}
