/** Reads a team's card: bounded, verified against the pinned key, and only then believed. Source: DESIGN §3.2; PROTOCOLS "A2A". */
import { CaseOpsError, type ErrorCode } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { TeamAnnouncement } from '#ports/team-transport.ts';
import { CONTRACTS_EXTENSION, contractsParams, demandsLease, wireCard } from './card-contract.ts';
import { A2A_VERSION } from './protocol-version.ts';
import type { Binding } from './wire-error.ts';

const CARD_BYTES_MAX = 1_048_576;

/** The verdict on a card's signature; `thumbprint` is the pinned key's. */
export type VerifiedCard =
  | { readonly ok: true; readonly thumbprint: string }
  | { readonly ok: false; readonly message: string };

export interface CardSource {
  /** The team as it is pinned here; the card must be its. */
  readonly team: string;
  readonly cardUrl: string;
  readonly binding: Binding;
  readonly verifyCard: (text: string) => VerifiedCard | Promise<VerifiedCard>;
  readonly fetch: typeof fetch;
}

/**
 * Throws CaseOpsError: ERR_TEAM_UNREACHABLE when there is no answer, ERR_DENIED when the card cannot be trusted, ERR_SCHEMA when it is
 * not what a team's card has to be.
 */
export async function readCard(source: CardSource, signal: AbortSignal): Promise<TeamAnnouncement> {
  const text = await download(source, signal);
  const verified = await source.verifyCard(text);
  if (!verified.ok) throw untrusted(source, 'ERR_DENIED', `is not trusted: ${verified.message}`);
  const parsed = parseStrictJson(text, { bytesMax: CARD_BYTES_MAX });
  if (!parsed.ok) throw untrusted(source, 'ERR_SCHEMA', `cannot be read: ${parsed.error.message}`);
  const card = wireCard.safeParse(parsed.value);
  if (!card.success) throw untrusted(source, 'ERR_SCHEMA', `does not conform at ${pathOf(card.error)}`);
  if (card.data.name !== source.team) throw untrusted(source, 'ERR_DENIED', 'is signed for another team');
  if (!demandsLease(card.data)) throw untrusted(source, 'ERR_DENIED', 'does not demand a lease for each operation');
  const used = card.data.supportedInterfaces.find(
    (item) => item.protocolBinding === source.binding && majorMinor(item.protocolVersion) === A2A_VERSION,
  );
  if (used === undefined)
    throw untrusted(source, 'ERR_SCHEMA', `offers no ${source.binding} interface of A2A ${A2A_VERSION}`);
  const extension = (card.data.capabilities.extensions ?? []).find((item) => item.uri === CONTRACTS_EXTENSION);
  const params = contractsParams.safeParse(extension?.params);
  if (!params.success) throw untrusted(source, 'ERR_SCHEMA', `announces no lawful contracts: ${pathOf(params.error)}`);
  const foreign = params.data.contracts.find((contract) => contract.team !== source.team);
  if (foreign !== undefined)
    throw untrusted(source, 'ERR_DENIED', `announces skill ${foreign.skillId} of another team`);
  return {
    card: {
      team: source.team,
      cardName: card.data.name,
      cardVersion: card.data.version,
      protocolVersion: A2A_VERSION,
      verifiedBy: verified.thumbprint,
      cardDigest: digestOf(parsed.value),
      interfaces: [{ url: used.url, binding: source.binding }],
      audience: used.url,
      workload: params.data.workload,
      toolAudiences: params.data.toolAudiences,
    },
    skills: params.data.contracts,
    policyDigest: params.data.policyDigest,
  };
}

async function download(source: CardSource, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const headers = { accept: 'application/json' };
    const response = await source.fetch(source.cardUrl, { headers, signal, redirect: 'error' });
    if (!response.ok) throw untrusted(source, 'ERR_TEAM_UNREACHABLE', `was answered with ${response.status}`);
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > CARD_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CaseOpsError || signal.aborted) throw error;
    throw new CaseOpsError('ERR_TEAM_UNREACHABLE', `Team ${source.team} did not answer with its card.`, {
      at: 'a2a',
      cause: error,
    });
  }
  if (size > CARD_BYTES_MAX) throw untrusted(source, 'ERR_SCHEMA', `is over ${CARD_BYTES_MAX} bytes`);
  return new TextDecoder('utf-8', { fatal: false }).decode(Buffer.concat(chunks));
}

/** A patch number must not matter. */
function majorMinor(version: string): string {
  return /^(\d+\.\d+)(\.\d+)?$/.exec(version)?.[1] ?? version;
}

function pathOf(error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] }): string {
  const path = error.issues[0]?.path.map((step) => `/${String(step)}`).join('') ?? '';
  return path === '' ? 'its root' : path;
}

function untrusted(source: CardSource, code: ErrorCode, what: string): CaseOpsError {
  return new CaseOpsError(code, `The card of team ${source.team} ${what}.`, {
    at: 'a2a',
    detail: { team: source.team, boundary: 'card', code: 'card' },
  });
}
