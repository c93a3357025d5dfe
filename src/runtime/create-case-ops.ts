/**
 * The runtime of a case: the supervisor with its store, issuer and HTTP edge in this process, each team in a process of its own. The
 * one place where control, authority, protocols and store meet. Source: DESIGN §2 "runtime".
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DevelopmentIssuer } from '#authority/development-issuer.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Planner } from '#ports/model.ts';
import type { createHttpEdge as CreateHttpEdge } from '#protocols/http/api.ts';
import type { Limits } from './limits.ts';
import type { CaseDefinition } from './define-case.ts';
import { onRememberedPort, readPorts, writePorts } from './ports-file.ts';
import { ISSUER, SUPERVISOR_WORKLOAD } from './workloads.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';

export interface CaseOpsOptions {
  readonly case: CaseDefinition;
  /** Holds database, keys and the teams' directories; created when missing. */
  readonly directory: string;
  /** Port of API and page; 0 or absent: the one of last time, else any free one. */
  readonly port?: number;
  /** Teams that are not started: their steps fail by name. */
  readonly withoutTeams?: readonly string[];
  /** Replaces the built-in planner. */
  readonly planner?: Planner;
  /** What is not named has the default of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>;
}

/** A goal in words, for a person. */
export interface Goal {
  readonly text: string;
  readonly language?: string;
  /** A development identity; `requester@t9` when left out. */
  readonly as?: string;
  readonly idempotencyKey?: string;
}

export interface RunningTeam {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
}

export interface CaseOps extends AsyncDisposable {
  /** Of API and page. */
  readonly url: string;
  readonly teams: readonly RunningTeam[];
  /** Interrupted runs that were taken up again at the start. */
  readonly recoveredRunCount: number;
  /** Bearer tokens of the development identities. */
  readonly tokens: Readonly<Record<string, string>>;
  /** A link that signs a browser in and opens a path of the page. */
  readonly pageLink: (account: string, path: string) => string;
  /** Runs a goal to its end or to its question. */
  readonly ask: (goal: Goal, signal?: AbortSignal) => Promise<RunView>;
  /** Everything else that may be asked of runs, with the grant of `grantOf`. */
  readonly desk: RunDesk;
  readonly grantOf: DevelopmentIssuer['grantFor'];
}

const HOST = '127.0.0.1';
/** Local tokens outlive a working day; they are for development. */
const TOKEN_LIFETIME_S = 43_200;
const REQUESTER = 'requester@t9';

/** Starts everything; ERR_CONFIG or ERR_TEAM_UNREACHABLE when a part cannot start, with nothing left running. */
export async function createCaseOps(options: CaseOpsOptions): Promise<CaseOps> {
  const { directory } = options;
  mkdirSync(directory, { recursive: true });
  assertTeams(options);
  await using stack = new AsyncDisposableStack();
  const parts = await loadParts();
  const people = openPeople(options, parts);
  // The token endpoint must have an address before the teams can be told of it, and the supervisor exists only after them.
  let edge: ReturnType<typeof CreateHttpEdge> | undefined;
  const fetch = (request: Request): Response | Promise<Response> =>
    edge?.fetch(request) ?? new Response(null, { status: 503, headers: { 'retry-after': '1' } });
  const wanted = options.port === undefined || options.port === 0 ? undefined : options.port;
  const server = stack.use(
    wanted === undefined
      ? await onRememberedPort(readPorts(directory)['http'], (port) => parts.serveHttp({ fetch, host: HOST, port }))
      : await parts.serveHttp({ fetch, host: HOST, port: wanted }),
  );
  writePorts(directory, { http: Number(new URL(server.url).port) });
  const supervisor = stack.use(await parts.createSupervisor({ ...options, url: server.url, people }));
  edge = parts.createHttpEdge({
    desk: supervisor.desk,
    authenticate: (token) => {
      const verdict = people.verify(token);
      return verdict.ok ? verdict.grant : undefined;
    },
    token: supervisor.issuer.handleTokenRequest,
    jwks: supervisor.issuer.jwks,
    assetsDirectory: assetsDirectory(),
  });
  // Interrupted runs go on only now: their teams exchange leases at this edge.
  const recoveredRunCount = await supervisor.resume();
  const tokens = Object.fromEntries(parts.DEVELOPMENT_ACCOUNTS.map((account) => [account, people.tokenFor(account)]));
  const owned = stack.move();
  return {
    url: server.url,
    teams: supervisor.teams,
    recoveredRunCount,
    tokens,
    pageLink: (account, path) => `${server.url}${path}${path.includes('?') ? '&' : '?'}key=${tokens[account] ?? ''}`,
    ask: (goal, signal) => ask(supervisor.desk, people, { goal, signal: signal ?? new AbortController().signal }),
    desk: supervisor.desk,
    grantOf: people.grantFor,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** ERR_CONFIG when a team to leave out is none of the case's. */
function assertTeams({ case: definition, withoutTeams = [] }: CaseOpsOptions): void {
  const unknown = withoutTeams.filter((team) => !Object.hasOwn(definition.teams, team));
  if (unknown.length === 0) return;
  throw new CaseOpsError(
    'ERR_CONFIG',
    `Expected teams of the case (${Object.keys(definition.teams).join(', ')}), got ${unknown.join(', ')}.`,
    { at: 'runtime' },
  );
}

type Parts = Awaited<ReturnType<typeof loadParts>>;

function openPeople(options: CaseOpsOptions, parts: Parts): DevelopmentIssuer {
  return parts.createDevelopmentIssuer({
    issuer: ISSUER,
    audience: 'urn:caseops:api',
    signer: parts.loadWorkloadKey(join(options.directory, 'keys'), 'people'),
    clock: systemClock,
    ids: systemIds,
    supervisor: SUPERVISOR_WORKLOAD,
    ...options.case.requester,
    lifetimeS: TOKEN_LIFETIME_S,
  });
}

/** The heavy parts, side by side and only now: a program that never starts a runtime never loads them. */
async function loadParts() {
  const [people, { createHttpEdge }, { serveHttp }, { createSupervisor }, { loadWorkloadKey }] = await Promise.all([
    import('#authority/development-issuer.ts'),
    import('#protocols/http/api.ts'),
    import('#protocols/http/serve-http.ts'),
    import('./supervisor.ts'),
    import('./workload-key.ts'),
  ]);
  const { createDevelopmentIssuer, DEVELOPMENT_ACCOUNTS } = people;
  return {
    createDevelopmentIssuer,
    DEVELOPMENT_ACCOUNTS,
    createHttpEdge,
    serveHttp,
    createSupervisor,
    loadWorkloadKey,
  };
}

async function ask(
  desk: RunDesk,
  people: DevelopmentIssuer,
  { goal, signal }: { readonly goal: Goal; readonly signal: AbortSignal },
): Promise<RunView> {
  const grant = people.grantFor(goal.as ?? REQUESTER);
  const { view } = await desk.submit(grant, {
    text: goal.text,
    language: goal.language,
    sessionId: undefined,
    idempotencyKey: goal.idempotencyKey,
  });
  return desk.settled(grant, view.runId, signal);
}

/** Style sheets and icons stand at the package's root, beside `src` and `dist`. */
function assetsDirectory(): string {
  return join(dirname(fileURLToPath(import.meta.resolve('caseops/package.json'))), 'assets');
}
