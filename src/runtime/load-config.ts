/** Finds and reads the configuration file: the nearest one from the working directory up. */
import { CaseOpsError } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkConfig, type CaseOpsConfig, type ConfigFinding } from './config.ts';

export interface LoadedConfig {
  readonly file: string;
  readonly config: CaseOpsConfig;
}

const NAMES = ['caseops.config.ts', 'caseops.config.mjs', 'caseops.config.js', 'caseops.config.json'];
const BYTES_MAX = 262_144;

/** The file that `loadConfig` would read; undefined when there is none from `from` up to the root. ERR_CONFIG for two in one folder. */
export function findConfig(from: string = process.cwd()): string | undefined {
  for (let directory = resolve(from); ; directory = dirname(directory)) {
    const found = NAMES.map((name) => join(directory, name)).filter((path) => existsSync(path));
    const [first, second] = found;
    if (second !== undefined)
      throw new CaseOpsError('ERR_CONFIG', `Expected one configuration in ${directory}, got ${found.join(' and ')}.`, {
        at: 'config',
      });
    if (first !== undefined) return first;
    if (dirname(directory) === directory) return undefined;
  }
}

/**
 * Undefined when there is no file. Throws one ERR_CONFIG whose message and `detail.findings` hold every finding. A module gives its
 * configuration as the default export or as `config`.
 */
export async function loadConfig(
  options: { readonly from?: string; readonly file?: string } = {},
): Promise<LoadedConfig | undefined> {
  const file = options.file === undefined ? findConfig(options.from) : resolve(options.file);
  if (file === undefined) return undefined;
  const checked = checkConfig(file.endsWith('.json') ? readJson(file) : await readModule(file), file);
  if (!checked.ok) throw configError(file, checked.findings);
  return { file, config: fromFile(checked.config, dirname(file)) };
}

export function configError(file: string, findings: readonly ConfigFinding[]): CaseOpsError {
  return new CaseOpsError(
    'ERR_CONFIG',
    findings
      .map(({ message }) => message)
      .join('\n')
      .slice(0, 2_000),
    {
      at: 'config',
      detail: { file, findings: findings.map((finding) => ({ ...finding })) },
    },
  );
}

/** Paths in a file are meant from where it stands. */
function fromFile(config: CaseOpsConfig, base: string): CaseOpsConfig {
  return {
    ...config,
    ...(config.case === undefined ? {} : { case: resolve(base, config.case) }),
    ...(config.directory === undefined ? {} : { directory: resolve(base, config.directory) }),
    ...(config.secrets?.from === 'files'
      ? { secrets: { from: 'files', directory: resolve(base, config.secrets.directory) } }
      : {}),
  };
}

function readJson(file: string): unknown {
  const parsed = parseStrictJson(readFileSync(file), { bytesMax: BYTES_MAX });
  if (parsed.ok) return parsed.value;
  throw new CaseOpsError(parsed.error.code, `${file}: ${parsed.error.message}`, { at: 'config' });
}

async function readModule(file: string): Promise<unknown> {
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `The configuration ${file} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      { at: 'config', cause },
    );
  }
  return exports['default'] ?? exports['config'];
}
