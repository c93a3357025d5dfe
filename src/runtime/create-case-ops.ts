/**
 * The runtime of a case: the supervisor with its store, issuer and HTTP edge in this process, each team of the case in a
 * process of its own, and teams that others serve. The
 * one place where control, authority, protocols and store meet. Source: DESIGN §2 "runtime".
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import type { Phraser, Planner } from '#ports/model.ts';
import type { RetentionDesk } from '#ports/retention-desk.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import type { Secrets } from '#ports/secrets.ts';
import type { StoreOpener } from '#ports/store.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import type { createHttpEdge as CreateHttpEdge } from '#protocols/http/api.ts';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CaseOpsConfigInput } from './config.ts';
import type { Limits } from './limits.ts';
import type { CaseDefinition } from './define-case.ts';
import { trustOf } from './deployment-trust.ts';
import { onRememberedPort, readPorts, writePorts } from './ports-file.ts';
import type { RemoteTeam } from './remote-team.ts';
import type { RunCalls } from './run-calls.ts';
import type { Settings } from './settings.ts';
import type { Trust } from './team-config.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

/** What is given here comes before what the configuration says. */
export interface CaseOpsOptions {
  /** Left out: the case that the configuration names. */
  readonly case?: CaseDefinition;
  /** Holds database, keys and the teams' directories; created when missing. Default `.caseops`. */
  readonly directory?: string;
  /** Port of API and page; 0 or absent: the one of last time, else any free one. */
  readonly port?: number;
  /** Teams of the case that are not started: their steps fail by name. */
  readonly withoutTeams?: readonly string[];
  /** Teams that somebody else serves. They are found when they answer; until then their steps cannot be planned. */
  readonly remoteTeams?: readonly RemoteTeam[];
  /** Teams in this very process, behind the same guards: for a domain service that is no agent system. */
  readonly inProcessTeams?: readonly TeamDefinition[];
  /** Where spans and log lines go, here and in the teams; default: as environment and configuration say. */
  readonly telemetry?: TelemetryConfig;
  /** Replaces the built-in planner. */
  readonly planner?: Planner;
  /** Says answers in other words; what it adds is refused. Default: the goal's own words. */
  readonly phraser?: Phraser;
  /** What is not named has the default of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>;
  /** Replaces the store that the configuration chooses, such as `postgresStore({ url })` of caseops/postgres. */
  readonly store?: StoreOpener;
  /** Replaces the secrets that the configuration names. */
  readonly secrets?: Secrets;
  /** Left out: the nearest `caseops.config.*` from the working directory up, if any. False: none. */
  readonly config?: CaseOpsConfigInput | false;
}

/** A team's own process. */
export interface RunningTeam {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
}

export interface CaseOps extends RunCalls, AsyncDisposable {
  /** Of API and page. */
  readonly url: string;
  readonly teams: readonly RunningTeam[];
  /** Interrupted runs that were taken up again at the start. */
  readonly recoveredRunCount: number;
  /** Bearer tokens of the development identities; none when people come from an issuer of their own. */
  readonly tokens: Readonly<Record<string, string>>;
  /** A link that signs a browser in and opens a path of the page. */
  readonly pageLink: (account: string, path: string) => string;
  /** Everything that may be asked of runs, with a grant. */
  readonly desk: RunDesk;
  /** Retention and deletion, with a grant of a custodian. */
  readonly retention: RetentionDesk;
  /** The grant of a development identity. */
  readonly grantOf: (account: string) => RootGrant;
  /** What whoever serves a team for this deployment pins. */
  readonly trust: Trust;
  /** Ends runs' waits, teams, servers and timers, in this order; safe to call again, and each call resolves when all has ended. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** Starts everything; ERR_CONFIG or ERR_TEAM_UNREACHABLE when a part cannot start, with nothing left running. */
export async function createCaseOps(options: CaseOpsOptions = {}): Promise<CaseOps> {
  const parts = await loadParts();
  const settings = await parts.readSettings(options);
  const { directory, config } = settings;
  assertTeams(options, settings, parts);
  await using stack = new AsyncDisposableStack();
  stack.use(parts.holdDataDirectory(directory));
  // Ends last, so that the end of everything else is still told.
  const telemetry = stack.use(await parts.openTelemetry(settings.telemetry, 'caseops-supervisor'));
  const keys = await parts.openKeyRing({ directory, names: config.keys, secrets: settings.secrets });
  const { requester, accounts } = settings.case;
  const people = stack.use(parts.openPeople({ directory, requester, accounts, users: settings.users }));
  // The token endpoint must have an address before the teams can be told of it, and the supervisor exists only after them.
  let edge: ReturnType<typeof CreateHttpEdge> | undefined;
  const server = stack.use(
    await openServer(parts, {
      directory,
      host: config.host,
      port: options.port ?? config.port ?? 0,
      fetch: (request) => edge?.fetch(request) ?? new Response(null, { status: 503, headers: { 'retry-after': '1' } }),
    }),
  );
  const started = {
    ...options,
    ...settings,
    url: server.url,
    artifacts: config.artifacts.kind === 'files' ? undefined : await parts.openArtifacts(config.artifacts, settings),
    keys,
    telemetry,
    grants: (subject: string, tenant: string) => people.lookup(subject, tenant),
    configured: settings.telemetry,
  };
  const supervisor = stack.use(await parts.createSupervisor(started));
  edge = parts.createHttpEdge({
    desk: supervisor.desk,
    retention: supervisor.retention,
    authenticate: (token) => people.verify(token),
    token: (request) => supervisor.issuer.handleTokenRequest(request),
    jwks: () => supervisor.issuer.jwks(),
    assetsDirectory: assetsDirectory(),
    telemetry,
  });
  // Interrupted runs go on only now: their teams exchange leases at this edge.
  const recoveredRunCount = await supervisor.resume();
  const closed = new AbortController();
  stack.defer(() => closed.abort(closing()));
  const owned = stack.move();
  let disposed: Promise<void> | undefined;
  return {
    ...parts.createRunCalls(supervisor.desk, people, closed.signal),
    url: server.url,
    teams: supervisor.teams,
    recoveredRunCount,
    tokens: people.tokens,
    pageLink: (account, path) => signedIn(`${server.url}${path}`, people.tokens[account]),
    desk: supervisor.desk,
    retention: supervisor.retention,
    grantOf: (account) => people.grantFor(account),
    trust: trustOf(keys, server.url),
    [Symbol.asyncDispose]: () => (disposed ??= owned.disposeAsync()),
  };
}

/** The page's address with the key that it is opened with. */
function signedIn(url: string, token = ''): string {
  return `${url}${url.includes('?') ? '&' : '?'}key=${token}`;
}

/** ERR_CONFIG when a team to leave out is none of the case's, or when names of teams meet. */
function assertTeams(options: CaseOpsOptions, settings: Settings, { assertDistinct }: Parts): void {
  const own = Object.keys(settings.case.teams);
  assertDistinct([
    ...own,
    ...settings.remoteTeams.map(({ team }) => team),
    ...(options.inProcessTeams ?? []).map(({ name }) => name),
  ]);
  const unknown = (options.withoutTeams ?? []).filter((team) => !own.includes(team));
  if (unknown.length === 0) return;
  throw new CaseOpsError('ERR_CONFIG', `Expected teams of the case (${own.join(', ')}), got ${unknown.join(', ')}.`, {
    at: 'runtime',
  });
}

interface Address {
  readonly directory: string;
  readonly host: string;
  /** 0: the one of last time, else any free one. */
  readonly port: number;
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

async function openServer({ serveHttp }: Parts, { directory, host, port, fetch }: Address) {
  const server =
    port === 0
      ? await onRememberedPort(readPorts(directory)['http'], (last) => serveHttp({ fetch, host, port: last }))
      : await serveHttp({ fetch, host, port });
  writePorts(directory, { http: Number(new URL(server.url).port) });
  return server;
}

type Parts = Awaited<ReturnType<typeof loadParts>>;

/** The heavy parts, side by side and only now: a program that never starts a runtime never loads them. */
async function loadParts() {
  const [
    { openPeople },
    { createHttpEdge },
    { serveHttp },
    { createSupervisor },
    { openKeyRing },
    { readSettings },
    { createRunCalls },
    { assertDistinct },
    { openTelemetry },
    { holdDataDirectory },
    { openArtifacts },
  ] = await Promise.all([
    import('./people.ts'),
    import('#protocols/http/api.ts'),
    import('#protocols/http/serve-http.ts'),
    import('./supervisor.ts'),
    import('./key-ring.ts'),
    import('./settings.ts'),
    import('./run-calls.ts'),
    import('./team-members.ts'),
    import('./open-telemetry.ts'),
    import('./data-directory.ts'),
    import('./open-artifacts.ts'),
  ]);
  return {
    openPeople,
    createHttpEdge,
    serveHttp,
    createSupervisor,
    openKeyRing,
    readSettings,
    createRunCalls,
    assertDistinct,
    openTelemetry,
    holdDataDirectory,
    openArtifacts,
  };
}

function closing(): CaseOpsError {
  return new CaseOpsError('ERR_CANCELLED', 'This runtime is being disposed; the run goes on where it is resumed.', {
    at: 'runtime',
  });
}

/** Style sheets and icons stand at the package's root, beside `src` and `dist`. */
function assetsDirectory(): string {
  return join(dirname(fileURLToPath(import.meta.resolve('caseops/package.json'))), 'assets');
}
