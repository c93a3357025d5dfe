/** Uses the running server of the data directory, or starts the runtime and the case's teams for this command and stops them after. */
import { CaseOpsError, createCaseOps, type CaseOps } from 'caseops';
import { claimsCase } from '../cases/claims/case.ts';
import { createClient, type ApiClient } from './client.ts';
import { hint } from './output.ts';
import { dataDirectory, readServerFile, removeServerFile, writeServerFile } from './server-file.ts';

export interface ServerOptions {
  /** The development identity that asks. */
  readonly as: string;
  /** Teams that are not started. */
  readonly without: readonly string[];
  readonly port?: number;
}

/** Starts the runtime in this process and announces it in the data directory. */
export async function startServer(options: Pick<ServerOptions, 'without' | 'port'>): Promise<CaseOps> {
  const directory = dataDirectory();
  const running = readServerFile(directory);
  if (running !== undefined) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `A server already runs on ${directory} (process ${running.pid}, ${running.url}). End it, or set CASEOPS_HOME to another directory.`,
      { at: 'cli' },
    );
  }
  const system = await createCaseOps({
    case: claimsCase,
    directory,
    port: options.port ?? 0,
    withoutTeams: options.without,
  });
  writeServerFile(directory, { url: system.url, pid: process.pid, tokens: system.tokens });
  return {
    ...system,
    [Symbol.asyncDispose]: async () => {
      removeServerFile(directory, process.pid);
      await system[Symbol.asyncDispose]();
    },
  };
}

/** Runs `use` against the running server, or against one that lives as long as `use`. */
export async function withServer<T>(options: ServerOptions, use: (client: ApiClient) => Promise<T>): Promise<T> {
  const running = readServerFile(dataDirectory());
  if (running !== undefined) return use(createClient(running.url, tokenOf(running.tokens, options.as)));
  hint('No server is running: starting the runtime and its teams for this command.');
  await using system = await startServer(options);
  return await use(createClient(system.url, tokenOf(system.tokens, options.as)));
}

function tokenOf(tokens: Readonly<Record<string, string>>, account: string): string {
  const token = Object.hasOwn(tokens, account) ? tokens[account] : undefined;
  if (token === undefined) {
    throw new CaseOpsError(
      'ERR_USAGE',
      `There is no development identity ${account}. Known: ${Object.keys(tokens).join(', ')}.`,
      { at: 'cli' },
    );
  }
  return token;
}
