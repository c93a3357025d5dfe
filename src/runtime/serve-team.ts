/** Serves a team over A2A in this process. What it needs is loaded only when it is called. */
import type { PrivateJwk } from '#authority/es256.ts';
import type { PublicJwk } from '#ports/signer.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { CallLimits } from './call-limits.ts';
import type { Trust } from './team-config.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

export interface ServeTeamOptions {
  /** Holds the team's database, key and port numbers. */
  readonly directory: string;
  readonly trust: Trust;
  readonly host?: string;
  /** Where the team's spans and log lines go; default: nowhere. */
  readonly telemetry?: TelemetryConfig | undefined;
  /** The team's ES256 private key as a JWK; left out: made and kept in `directory`. */
  readonly key?: PrivateJwk | undefined;
  /** Calls in flight at most, by MCP server; default: no limit of its own. */
  readonly callLimits?: CallLimits | undefined;
}

export interface ServedTeam extends AsyncDisposable {
  readonly url: string;
  readonly cardUrl: string;
  readonly publicKey: PublicJwk;
  /** Audiences of leases: the A2A interfaces and the tool servers. */
  readonly audiences: readonly string[];
  readonly recoveredRunCount: number;
}

/** Resolves when the team listens and its interrupted runs were taken up. */
export async function serveTeam(team: TeamDefinition, options: ServeTeamOptions): Promise<ServedTeam> {
  const { hostTeam } = await import('./host-team.ts');
  return hostTeam(team, options);
}
