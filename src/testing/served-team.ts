/** A team served over A2A on a free port, with its door in the test's hands, and raw requests to it. For tests of the protocol. */
import type { LeaseClaims } from '#contracts/lease.ts';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { Clock } from '#ports/clock.ts';
import type { Refusal } from '#ports/guard.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { buildCard } from '#protocols/a2a/card-builder.ts';
import { type A2aServer, INTERFACE_PATHS, serveA2a } from '#protocols/a2a/team-server.ts';
import { createMemoryTeamDoor, type MemoryTeamDoor } from './memory-team-door.ts';
import { createPlainGuard, plainLease } from './plain-guard.ts';
import { fixtureTeam } from './team-fixtures.ts';

export interface ServedFixture extends AsyncDisposable {
  readonly door: MemoryTeamDoor;
  readonly server: A2aServer;
  readonly audiences: { readonly rest: string; readonly rpc: string };
  readonly card: string;
}

/** The card is not signed: verifying it is another room's. */
export async function serveFixture(clock: Clock, bodyBytesMax = 100_000): Promise<ServedFixture> {
  const team = fixtureTeam();
  const door = createMemoryTeamDoor({ team, clock });
  const served = { audiences: { rest: '', rpc: '' }, card: '' };
  const server = await serveA2a({ host: '127.0.0.1', port: 0, bodyBytesMax, clock }, async (url) => {
    served.audiences = { rest: url + INTERFACE_PATHS.rest, rpc: url + INTERFACE_PATHS.rpc };
    const { rest, rpc } = served.audiences;
    const place = {
      audiences: served.audiences,
      workload: `spiffe://caseops.test/team/${team.name}`,
      toolAudiences: {},
    };
    served.card = JSON.stringify(buildCard(team, place));
    return {
      door,
      card: served.card,
      rest: { audience: rest, guard: createPlainGuard(rest) },
      rpc: { audience: rpc, guard: createPlainGuard(rpc) },
      refuse: problem,
    };
  });
  return { door, server, ...served, [Symbol.asyncDispose]: () => server.close() };
}

export interface RawRequest {
  readonly method?: string;
  readonly body?: string;
  /** No lease: none is sent. */
  readonly lease?: HeldLease | undefined;
  /** Over the defaults; an empty value removes the header. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** One request exactly as told. */
export function rawRequest(url: string, request: RawRequest = {}): Promise<Response> {
  const method = request.method ?? (request.body === undefined ? 'GET' : 'POST');
  const headers = new Headers({ 'a2a-version': '1.0', 'a2a-extensions': LEASE_EXTENSION });
  if (request.body !== undefined) headers.set('content-type', 'application/json');
  if (request.lease !== undefined) {
    headers.set('authorization', `DPoP ${request.lease.token}`);
    headers.set('dpop', request.lease.prove(method, url, request.body ?? ''));
  }
  for (const [name, value] of Object.entries(request.headers ?? {}))
    if (value === '') headers.delete(name);
    else headers.set(name, value);
  return fetch(url, {
    method,
    headers,
    ...(request.body === undefined ? {} : { body: request.body }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
}

/** The wire form of a message with a dispatch. */
export function wireSend(
  dispatch: { readonly dispatchId: string },
  lease: HeldLease,
  over: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const digest = digestOfBytes(lease.token.slice(0, lease.token.lastIndexOf('.')));
  return {
    messageId: dispatch.dispatchId,
    role: 'ROLE_USER',
    parts: [{ data: dispatch, mediaType: 'application/vnd.caseops.dispatch+json' }],
    metadata: { [LEASE_EXTENSION]: { jti: lease.leaseId, digest } },
    ...over,
  };
}

export function leaseFor(claims: LeaseClaims): HeldLease {
  return plainLease(claims);
}

function problem(refusal: Refusal): { status: number; headers: Record<string, string>; body: object } {
  const unauthenticated = [
    'lease_missing',
    'lease_malformed',
    'audience',
    'proof_missing',
    'body_digest',
    'proof_replayed',
  ];
  const status = unauthenticated.includes(refusal.code) ? 401 : 403;
  const { outcome, code, boundary } = refusal;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(status === 401 ? { 'www-authenticate': 'DPoP algs="ES256"' } : {}),
    },
    body: { outcome, code, boundary },
  };
}
