/** Uses the running server of the data directory, or starts the runtime and the case's teams for this command and stops them after. */
import { CaseOpsError, createCaseOps, type CaseOps } from 'caseops';
import { CASES, dataDirectory, DEFAULT_CASE, lastCase, rememberCase, type CaseName } from './cases.ts';
import { createClient, type ApiClient } from './client.ts';
import { installation } from './installation.ts';
import { hint } from './output.ts';
import { findServer, removeServerFile, writeServerFile } from './server-file.ts';

export interface ServerOptions {
  /** The development identity that asks: `requester@t9`, or a role of the case's first tenant. */
  readonly as: string;
  /** Left out: the one that was started last. */
  readonly case?: CaseName;
  /** Teams that are not started. */
  readonly without: readonly string[];
  readonly port?: number;
}

/** Starts the runtime in this process and announces it in the data directory. */
export async function startServer(options: Omit<ServerOptions, 'as'>): Promise<CaseOps> {
  const loaded = await installation();
  const name = options.case ?? lastCase();
  const directory = dataDirectory(name);
  const running = await findServer(directory);
  if (running !== undefined) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `A server already runs on ${directory} (process ${running.pid}, ${running.url}). End it, or set CASEOPS_HOME to another directory.`,
      { at: 'cli' },
    );
  }
  const system = await createCaseOps({
    // The case of the configuration stands in for the one that the command line has by itself.
    ...(loaded?.config.case !== undefined && name === DEFAULT_CASE ? {} : { case: await CASES[name].load() }),
    directory,
    ...(options.port === undefined || options.port === 0 ? {} : { port: options.port }),
    withoutTeams: options.without,
  });
  rememberCase(name);
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
  await installation();
  const name = options.case ?? lastCase();
  const running = await findServer(dataDirectory(name));
  if (running !== undefined) return use(createClient(running.url, tokenOf(running.tokens, options.as)));
  hint(`No server is running for the case ${name}: starting the runtime and its teams for this command.`);
  await using system = await startServer({ ...options, case: name });
  return await use(createClient(system.url, tokenOf(system.tokens, options.as)));
}

function tokenOf(tokens: Readonly<Record<string, string>>, account: string): string {
  const known = Object.keys(tokens);
  const name = known.find((each) => each === account || each.startsWith(`${account}@`));
  const token = name === undefined ? undefined : tokens[name];
  if (token === undefined) {
    throw new CaseOpsError('ERR_USAGE', `There is no development identity ${account}. Known: ${known.join(', ')}.`, {
      at: 'cli',
    });
  }
  return token;
}
