/** A team that somebody else serves: where its card is, which key signs it, and to which addresses its leases may go. All pinned. */
import { CaseOpsError } from '#contracts/error.ts';
import { name } from '#contracts/ids.ts';
import type { PublicJwk } from '#ports/signer.ts';
import { z } from 'zod';
import { publicJwk } from './team-config.ts';
import { teamWorkload } from './workloads.ts';

export interface RemoteTeamOptions {
  /** As goals, plans and leases call it. */
  readonly team: string;
  /** Of its signed agent card; http only to this machine, https to any other. */
  readonly cardUrl: string;
  /** The team's ES256 key (public JWK): a card under another key is refused, and only this key may exchange the team's leases. */
  readonly publicKey: PublicJwk;
  /** Its A2A interfaces and tool servers. A lease is never addressed anywhere else, whatever the card says. */
  readonly audiences: readonly string[];
  /** Default: the workload of a team of that name in this deployment. */
  readonly workload?: string | undefined;
}

export interface RemoteTeam extends Readonly<Required<Omit<RemoteTeamOptions, 'workload'>>> {
  readonly kind: 'remote';
  readonly workload: string;
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

const options = z.strictObject({
  team: name,
  cardUrl: z.url({ protocol: /^https?$/ }).refine(isSafe, { error: 'https, or http to this machine' }),
  publicKey: publicJwk,
  audiences: z
    .array(z.url({ protocol: /^https?$/ }).refine(isSafe, { error: 'https, or http to this machine' }))
    .min(1)
    .max(64),
  workload: z.string().min(1).max(256).optional(),
});

/** As a configuration file gives it. */
export const remoteTeamOptions: z.ZodType<RemoteTeamOptions> = options;

/** Pure: nothing is fetched. Throws ERR_CONFIG with every finding. */
export function remoteTeam(given: RemoteTeamOptions): RemoteTeam {
  const parsed = options.safeParse(given);
  if (!parsed.success)
    throw new CaseOpsError('ERR_CONFIG', `The remote team is not well formed: ${z.prettifyError(parsed.error)}`, {
      at: 'runtime',
    });
  const { team, cardUrl, publicKey, audiences, workload } = parsed.data;
  return { kind: 'remote', team, cardUrl, publicKey, audiences, workload: workload ?? teamWorkload(team) };
}

function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || LOOPBACK.has(hostname);
}
