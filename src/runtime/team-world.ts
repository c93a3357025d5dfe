/** What the guards of one team know: whose leases it takes, which keys are which workloads, and its policies. */
import { thumbprint } from '#authority/es256.ts';
import type { GuardOptions } from '#authority/guard-options.ts';
import type { Signer } from '#ports/signer.ts';
import type { McpServerDefinition, PolicyRow, TeamDefinition } from '#ports/team-definition.ts';
import { systemClock } from './system-clock.ts';
import type { Trust } from './team-config.ts';
import { SUPERVISOR_WORKLOAD } from './workloads.ts';

export const TOOL_BODY_BYTES_MAX = 262_144;

export interface TeamWorld {
  readonly team: TeamDefinition;
  readonly trust: Trust;
  readonly signer: Signer;
  readonly workload: string;
}

/** Only the team's own workload may call its tools, for the purposes and tenants that the team serves at all. */
export function toolPolicy(
  { team, workload }: Pick<TeamWorld, 'team' | 'workload'>,
  server: McpServerDefinition,
): readonly PolicyRow[] {
  const tenants = [...new Set(team.policy.flatMap((row) => row.tenants))];
  return server.tools.flatMap(({ contract }) =>
    contract.requiredActions.flatMap((action) =>
      contract.purposes.map((purpose) => ({
        actor: workload,
        action,
        resourceType: contract.resource.type,
        purpose,
        tenants,
      })),
    ),
  );
}

export function guardOptions(
  { trust, signer, workload, team }: TeamWorld,
  own: Pick<GuardOptions, 'boundary' | 'audience' | 'policy'>,
): GuardOptions {
  const known = new Map([
    [thumbprint(trust.supervisorKey), SUPERVISOR_WORKLOAD],
    [signer.thumbprint, workload],
  ]);
  return {
    ...own,
    issuers: [{ issuer: trust.issuer, keys: trust.issuerKeys }],
    clock: systemClock,
    workloads: (jkt) => known.get(jkt),
    policyDigest: team.policyDigest,
  };
}
