/** An MCP server over Streamable HTTP behind the guard. Source: SEAMS §1, PROTOCOLS "MCP". */
import { createGuardedMcp, type GuardedMcp, type GuardedMcpOptions } from './guarded-fetch.ts';
import { listen } from './node-listener.ts';
import { problemResponse } from './problem.ts';

export interface ServeMcpOptions extends GuardedMcpOptions {
  readonly host: string;
  /** 0 takes a free port; then the audience must be reachable by other means, such as a proxy. See `openMcpDoor`. */
  readonly port: number;
}

export interface ServedMcp {
  /** Where it listens. The audience is what was configured. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a defined MCP server on the path of its audience. `close` ends calls in flight. Rejects when the port is taken. */
export async function serveMcp(options: ServeMcpOptions): Promise<ServedMcp> {
  const door = await openMcpDoor({ ...options, path: new URL(options.audience).pathname });
  door.serve(options);
  return door;
}

export interface McpDoor extends ServedMcp {
  /** Starts answering; before that the door says 503. Once only. */
  serve(options: GuardedMcpOptions): void;
}

export interface McpDoorOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly bodyBytesMax: number;
}

/** A port without a server yet, for a server whose audience is the address that it gets: open, make the guard for `url`, serve. */
export async function openMcpDoor(options: McpDoorOptions): Promise<McpDoor> {
  let behind: GuardedMcp | undefined;
  const closed = { status: 503, code: 'ERR_SERVER_UNREACHABLE', detail: 'This server does not serve yet.' } as const;
  const listening = await listen(options, async (request) => behind?.fetch(request) ?? problemResponse(closed));
  return {
    url: `http://${options.host}:${listening.port}${options.path}`,
    serve: (served) => {
      behind ??= createGuardedMcp(served);
    },
    close: async () => {
      await behind?.close();
      await listening.close();
    },
  };
}
