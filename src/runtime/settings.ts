/** What a runtime starts with: the options of a program over the configuration of the installation, checked against the profile. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Secrets } from '#ports/secrets.ts';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallLimits } from './call-limits.ts';
import { chosenStore } from './chosen-store.ts';
import { checkConfig, type CaseOpsConfig } from './config.ts';
import type { CaseOpsOptions } from './create-case-ops.ts';
import type { CaseDefinition } from './define-case.ts';
import type { Limits } from './limits.ts';
import { loadCase } from './load-case.ts';
import { configError, loadConfig, type LoadedConfig } from './load-config.ts';
import type { UserDirectory } from './people.ts';
import type { StoreChoice } from './open-store.ts';
import { checkProduction } from './production.ts';
import { namedSecret } from './named-secret.ts';
import { remoteTeam, type RemoteTeam } from './remote-team.ts';
import { environmentSecrets, fileSecrets } from './secrets.ts';
import { telemetryFromEnvironment, type TelemetryConfig } from './telemetry-config.ts';

export interface Settings {
  readonly case: CaseDefinition;
  readonly directory: string;
  readonly config: CaseOpsConfig;
  readonly secrets: Secrets | undefined;
  readonly store: StoreChoice;
  readonly users: UserDirectory | undefined;
  readonly remoteTeams: readonly RemoteTeam[];
  readonly limits: Partial<Limits>;
  readonly callLimits: CallLimits;
  readonly telemetry: TelemetryConfig;
  readonly retention: CaseOpsConfig['retention'];
}

const DIRECTORY = '.caseops';

/** Throws ERR_CONFIG when there is no case, or with every refusal of the production profile. */
export async function readSettings(options: CaseOpsOptions): Promise<Settings> {
  const { config, file } = await readConfig(options.config);
  const definition = options.case ?? (config.case === undefined ? undefined : await caseOf(config.case));
  if (definition === undefined)
    throw new CaseOpsError('ERR_CONFIG', `Expected a case: as an option, or as /case in ${file}; got neither.`, {
      at: 'runtime',
    });
  const secrets = options.secrets ?? secretsOf(config.secrets);
  const inProcess = (options.inProcessTeams ?? []).map(({ name }) => name);
  const refused = checkProduction(config, { teams: [...Object.keys(definition.teams), ...inProcess], file });
  if (refused.length > 0) throw configError(file, refused);
  return {
    case: definition,
    directory: resolve(options.directory ?? config.directory ?? DIRECTORY),
    config,
    secrets,
    store: await chosenStore(config.store, { given: options.store, secrets }),
    users: config.users === undefined ? undefined : usersOf(config.users, definition),
    remoteTeams: [...(options.remoteTeams ?? []), ...config.remoteTeams.map(remoteTeam)],
    limits: { ...limitsIn(config), ...options.limits },
    callLimits: Object.fromEntries(
      Object.entries(config.quotas.toolServers).map(([server, { callsInFlightMax }]) => [server, callsInFlightMax]),
    ),
    retention: config.retention,
    telemetry: options.telemetry ?? (await telemetryOf(config.telemetry, secrets)),
  };
}

/** The environment comes before the file; what is named among the secrets is read, and passed on only where it is needed. */
async function telemetryOf(given: CaseOpsConfig['telemetry'], secrets: Secrets | undefined): Promise<TelemetryConfig> {
  const { otlpHeaderSecrets = {}, ...config } = given ?? {};
  const read = await Promise.all(
    Object.entries(otlpHeaderSecrets).map(
      async ([header, name]) => [header, (await namedSecret(name, secrets, 'the header')).reveal()] as const,
    ),
  );
  const otlpHeaders = { ...config.otlpHeaders, ...Object.fromEntries(read) };
  return {
    ...config,
    ...(Object.keys(otlpHeaders).length === 0 ? {} : { otlpHeaders }),
    ...telemetryFromEnvironment(process.env),
  };
}

function limitsIn({ quotas, admission }: CaseOpsConfig): Partial<Limits> {
  const given = {
    goalsPerMinuteMax: quotas.goalsPerMinuteMax,
    runsInFlightPerTenantMax: quotas.runsInFlightMax,
    runsInFlightMax: admission.runsInFlightMax,
    queueLengthMax: admission.queueLengthMax,
    tenants: quotas.tenants,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const NO_FILE = 'the configuration';

async function readConfig(given: CaseOpsOptions['config']): Promise<LoadedConfig> {
  const loaded = given === undefined ? await loadConfig() : undefined;
  if (loaded !== undefined) return loaded;
  const checked = checkConfig(given === undefined || given === false ? {} : given);
  if (checked.ok) return { file: NO_FILE, config: checked.config };
  throw configError(NO_FILE, checked.findings);
}

export function caseOf(path: string): Promise<CaseDefinition> {
  return loadCase(pathToFileURL(path).href);
}

export function secretsOf(config: CaseOpsConfig['secrets']): Secrets | undefined {
  if (config === undefined) return undefined;
  if (config.from === 'files') return fileSecrets({ directory: config.directory });
  return environmentSecrets(config.prefix === undefined ? {} : { prefix: config.prefix });
}

/** `*` in a role means everything that a requester of the case may ask for; never more. */
function usersOf(users: NonNullable<CaseOpsConfig['users']>, { requester }: CaseDefinition): UserDirectory {
  const all = (list: readonly string[], of: readonly string[]): readonly string[] => (list.includes('*') ? of : list);
  return {
    issuer: users.issuer,
    audience: users.audience,
    jwks: users.jwks,
    claims: users.claims,
    tenants: users.tenants,
    roles: Object.fromEntries(
      Object.entries(users.roles).map(([role, granted]) => [
        role,
        {
          roles: granted.roles,
          purposes: all(granted.purposes, requester.purposes),
          actions: all(granted.actions, requester.actions),
        },
      ]),
    ),
  };
}
