/** The teams of a deployment, however they are reached: what the issuer must know of each, and the way to it. */
import { verifyCard } from '#authority/card-trust.ts';
import type { EmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { PublicJwk } from '#ports/signer.ts';
import type { TeamTransport } from '#ports/team-transport.ts';
import { createA2aTransport } from '#protocols/a2a/team-client.ts';
import { systemClock } from './system-clock.ts';
import type { TeamChild } from './team-children.ts';
import { teamWorkload } from './workloads.ts';

/** A root grant, looked up again whenever something is done in a person's name. */
export type GrantLookup = (subject: string, tenant: string) => RootGrant | undefined;

export interface TeamMember {
  readonly team: string;
  readonly workload: string;
  readonly publicKey: PublicJwk;
  readonly audiences: readonly string[];
  /** Opened once the issuer is there. */
  readonly connect: (by: { readonly issuer: EmbeddedIssuer; readonly grants: GrantLookup }) => TeamTransport;
}

/** A team over A2A: a process of this deployment, or one that somebody else serves. */
export function a2aMember(options: {
  readonly team: string;
  readonly workload: string;
  readonly cardUrl: string;
  readonly publicKey: PublicJwk;
  readonly audiences: readonly string[];
}): TeamMember {
  const { team, workload, cardUrl, publicKey, audiences } = options;
  return {
    team,
    workload,
    publicKey,
    audiences,
    connect: ({ issuer, grants }) =>
      createA2aTransport({
        team,
        cardUrl,
        verifyCard: (text) => {
          const verdict = verifyCard(text, [publicKey]);
          return verdict.ok ? { ok: true, thumbprint: verdict.kid } : { ok: false, message: verdict.message };
        },
        binding: 'HTTP+JSON',
        clock: systemClock,
        controlLease: async ({ action, audience, taskId, contextId, dispatch }) => {
          const { runId, stepId, attempt, planDigest, tenant, subject } = dispatch;
          const grant = grants(subject, tenant);
          if (grant === undefined)
            throw new CaseOpsError('ERR_DENIED', `${subject} may not read this task any more.`, { at: 'runtime' });
          const task = { runId, stepId, attempt, taskId, contextId, planDigest };
          return issuer.mintControl({ grant, tenant, audience, action, ...task, policyDigest: planDigest }).lease;
        },
        fetch,
      }),
  };
}

export function childMember({ team, ready }: TeamChild): TeamMember {
  const { cardUrl, publicKey, audiences } = ready;
  return a2aMember({ team, workload: teamWorkload(team), cardUrl, publicKey, audiences });
}

/** ERR_CONFIG when two teams have one name, or when there is none at all. */
export function assertDistinct(teams: readonly string[]): void {
  const twice = [...new Set(teams.filter((team, index) => teams.indexOf(team) !== index))];
  if (teams.length > 0 && twice.length === 0) return;
  throw new CaseOpsError(
    'ERR_CONFIG',
    teams.length === 0
      ? 'Expected at least one team: in the case, in remoteTeams or in inProcessTeams.'
      : `Expected one team of each name among the case, remoteTeams and inProcessTeams, got more of ${twice.join(', ')}.`,
    { at: 'runtime' },
  );
}
