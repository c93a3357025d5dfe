/** What `caseops doctor` says of a configuration before anything starts. */
import { CaseOpsError } from '#contracts/error.ts';
import { escapePointer } from '#kernel/pointer.ts';
import type { Secrets } from '#ports/secrets.ts';
import { z } from 'zod';
import { inspectChosen } from './chosen-store.ts';
import { sentence, type CaseOpsConfig, type ConfigFinding } from './config.ts';
import { findConfig, loadConfig, type LoadedConfig } from './load-config.ts';
import { checkProduction } from './production.ts';
import { caseOf, secretsOf } from './settings.ts';

export interface Installation {
  /** Undefined: no configuration, everything has its default. */
  readonly file: string | undefined;
  /** The database that is chosen, with its version, when it is not a file of the data directory. */
  readonly store?: string;
  /** Empty: it would start. */
  readonly findings: readonly ConfigFinding[];
}

/** Reads the nearest configuration, its case and its secrets; starts and writes nothing. Never throws for what the file says. */
export async function checkInstallation(options: { readonly from?: string } = {}): Promise<Installation> {
  let file: string | undefined;
  try {
    file = findConfig(options.from);
    const loaded = file === undefined ? undefined : await loadConfig({ file });
    if (loaded === undefined) return { file, findings: [] };
    const findings = await findingsOf(loaded.config, loaded.file);
    const { store } = loaded.config;
    if (findings.length > 0 || store.kind !== 'postgres') return { file, findings };
    return { file, ...(await storeOf(store, loaded)) };
  } catch (error) {
    return { file, findings: findingsIn(error, file ?? 'the configuration') };
  }
}

async function findingsOf(config: CaseOpsConfig, file: string): Promise<readonly ConfigFinding[]> {
  const unloaded: ConfigFinding[] = [];
  const teams = await teamsOf(config, (got) =>
    unloaded.push(sentence({ pointer: '/case', expected: 'a module that exports one case', got, file })),
  );
  return [
    ...unloaded,
    ...checkProduction(config, { teams, file }),
    ...(await secretFindings(config, secretsOf(config.secrets), file)),
  ];
}

async function teamsOf({ case: module }: CaseOpsConfig, say: (got: string) => void): Promise<readonly string[]> {
  if (module === undefined) return [];
  try {
    return Object.keys((await caseOf(module)).teams);
  } catch (error) {
    say(error instanceof CaseOpsError ? error.message : 'a module that cannot be loaded');
    return [];
  }
}

/** Whether the database answers and has tables that this program works with, or may make them. */
async function storeOf(
  store: Extract<CaseOpsConfig['store'], { readonly kind: 'postgres' }>,
  { config, file }: LoadedConfig,
): Promise<Pick<Installation, 'store' | 'findings'>> {
  const found = (got: string): Pick<Installation, 'findings'> => ({
    findings: [sentence({ pointer: '/store', expected: 'a Postgres that this program can work with', got, file })],
  });
  try {
    const { name, version, versionNeeded } = await inspectChosen(store, secretsOf(config.secrets));
    const described = `${name}, version ${version} of ${versionNeeded}`;
    if (version > versionNeeded) return found(`${described}, which is newer; start the newer program`);
    if (version < versionNeeded && !store.migrate) return found(`${described}; run \`caseops db migrate\``);
    return { store: described, findings: [] };
  } catch (error) {
    return found(error instanceof CaseOpsError ? error.message.replace(/\.$/, '') : 'one that cannot be asked');
  }
}

/** That each named secret is there; what it holds is looked at when the runtime starts. */
async function secretFindings(
  { keys, artifacts, store, telemetry }: CaseOpsConfig,
  secrets: Secrets | undefined,
  file: string,
): Promise<readonly ConfigFinding[]> {
  const named = [
    ['/keys/issuer', keys.issuer],
    ['/keys/supervisor', keys.supervisor],
    ['/store/url', store.kind === 'postgres' ? store.url : undefined],
    ...Object.entries(keys.teams ?? {}).map(([team, name]) => [`/keys/teams/${team}`, name] as const),
    ...(artifacts.kind === 's3'
      ? ([
          ['/artifacts/accessKeyId', artifacts.accessKeyId],
          ['/artifacts/secretAccessKey', artifacts.secretAccessKey],
          ['/artifacts/sessionToken', artifacts.sessionToken],
        ] as const)
      : []),
    ...Object.entries(telemetry?.otlpHeaderSecrets ?? {}).map(
      ([header, name]) => [`/telemetry/otlpHeaderSecrets/${escapePointer(header)}`, name] as const,
    ),
  ] as const;
  const missing = await Promise.all(
    named.map(async ([pointer, name]) => {
      if (name === undefined || (await secrets?.read(name)) !== undefined) return [];
      const where = secrets === undefined ? 'no secrets, since /secrets is not set' : 'none of that name';
      return [sentence({ pointer, expected: `a secret called ${name}`, got: where, file })];
    }),
  );
  return missing.flat();
}

const stored = z.array(z.object({ pointer: z.string(), expected: z.string(), got: z.string(), message: z.string() }));

function findingsIn(error: unknown, file: string): readonly ConfigFinding[] {
  const found = stored.safeParse(error instanceof CaseOpsError ? error.detail['findings'] : undefined);
  if (found.success && found.data.length > 0) return found.data;
  const message = error instanceof CaseOpsError ? error.message : `${file} cannot be read.`;
  return [{ pointer: '', expected: 'a configuration', got: 'another file', message }];
}
