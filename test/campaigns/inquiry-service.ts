/** The inquiry case behind a real HTTP edge, with real time, a SQLite file and teams in memory: what campaigns and door tests submit to. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { createAdmissionQueue, type AdmissionQueue } from '#control/admission-queue.ts';
import { rulesPlanner } from '#control/backward-chaining.ts';
import { createCapabilityDirectory } from '#control/capability-directory.ts';
import { createRulesIntake } from '#control/intake.ts';
import { createRunDesk } from '#control/run-desk.ts';
import { createRunHandlers } from '#control/run-handlers.ts';
import { createLocalDriver } from '#drivers/local/local-driver.ts';
import { explainClaims } from '#evidence/why.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Store } from '#ports/store.ts';
import { createHttpEdge } from '#protocols/http/api.ts';
import { serveHttp } from '#protocols/http/serve-http.ts';
import type { Limits } from '#runtime/limits.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import {
  announcementOf,
  INQUIRY_ACTIONS,
  INQUIRY_GRANT,
  INQUIRY_KIND,
  INQUIRY_TEAMS,
  SUPERVISOR,
} from '#testing/inquiry-case.ts';
import { findingFor } from '#testing/inquiry-world.ts';
import { createScriptedTeam } from '#testing/scripted-team.ts';

export interface InquiryService extends AsyncDisposable {
  readonly url: string;
  /** The same application without a socket. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly store: Store;
  readonly admission: AdmissionQueue;
}

export interface InquiryServiceOptions {
  readonly limits: Limits;
  /** How long each team works on a step, in ms. */
  readonly workMs: number;
}

/** The bearer token of a tenant is its name: `t1` … `t9`. */
export async function openInquiryService(options: InquiryServiceOptions): Promise<InquiryService> {
  const { limits, workMs } = options;
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'caseops-campaign-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const [clock, ids] = [systemClock, systemIds];
  const store = stack.use(openSqliteStore({ path: join(directory, 'central.db'), clock }));
  const driver = stack.use(createLocalDriver({ store, clock, ids, owner: SUPERVISOR }));
  const teams = new Map(
    INQUIRY_TEAMS.map((name) => {
      const team = createScriptedTeam({ announcement: announcementOf(name), clock, ids, store, find: findingFor });
      team.faults.workMs = workMs;
      return [name, team] as const;
    }),
  );
  const admission = createAdmissionQueue(limits, clock);
  stack.defer(store.onCommit((_events, head) => admission.note(head)));
  const shared = {
    driver,
    store,
    clock,
    ids,
    admission,
    teams,
    planner: rulesPlanner,
    workload: SUPERVISOR,
    directory: createCapabilityDirectory({
      teams,
      registered: new Map(INQUIRY_TEAMS.map((name) => [name, announcementOf(name)])),
      clock,
      ids,
      workloadActions: INQUIRY_ACTIONS,
      policyDigest: digestOf('central policy'),
    }),
    issuer: issuerOver(store),
    grants: (_subject: string, tenant: string) => grantOf(tenant),
  };
  driver.register('central', createRunHandlers(shared));
  admission.open();
  const kinds = [INQUIRY_KIND];
  const desk = createRunDesk({
    ...shared,
    goalsPerMinuteMax: () => limits.goalsPerMinuteMax,
    kinds,
    intake: createRulesIntake({ kinds, ids }),
    why: (ref, claim) => explainClaims(store, { ref, claim }),
  });
  const edge = createHttpEdge({
    desk,
    authenticate: grantOf,
    token: async () => ({ status: 404, headers: {}, body: '' }),
    jwks: () => ({ keys: [] }),
    assetsDirectory: join(import.meta.dirname, '../../assets'),
  });
  const server = stack.use(await serveHttp({ fetch: edge.fetch, host: '127.0.0.1', port: 0 }));
  const owned = stack.move();
  return {
    url: server.url,
    fetch: async (request) => edge.fetch(request),
    store,
    admission,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function grantOf(tenant: string): RootGrant | undefined {
  return /^t[1-9]$/.test(tenant) ? { ...INQUIRY_GRANT, sub: `requester@${tenant}`, tenant } : undefined;
}

function issuerOver(store: Store): ReturnType<typeof createEmbeddedIssuer> {
  return createEmbeddedIssuer({
    issuer: 'https://issuer.test',
    tokenEndpoint: 'https://issuer.test/token',
    signer: generateSigner(),
    clock: systemClock,
    ids: systemIds,
    supervisor: { workload: SUPERVISOR, clientId: 'supervisor', signer: generateSigner() },
    audiences: () => true,
    clients: () => undefined,
    registry: store,
  });
}
