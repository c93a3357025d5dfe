/** A tool host over message transports. Calls, outcomes and verification are those of HTTP. Source: SEAMS §1 "stdio and in-memory". */
import type { Clock } from '#ports/clock.ts';
import type { ToolHost } from '#ports/tool-host.ts';
import type { Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createLink, type ServerLink } from './link.ts';
import { leaseTransport } from './message-lease.ts';
import { hostOver } from './tool-host.ts';

export interface MessageServer {
  /** The server's audience name, such as `stdio:claims`. */
  readonly audience: string;
  /** A fresh connection: at the first call, and again after one has closed. */
  readonly open: () => Transport;
}

export interface MessageToolHostOptions {
  readonly servers: Readonly<Record<string, MessageServer>>;
  readonly clock: Clock;
}

export function createMessageToolHost(options: MessageToolHostOptions): ToolHost {
  const links = Object.entries(options.servers).map(([name, { audience, open }]): readonly [string, ServerLink] => [
    name,
    createLink(audience, (calls) => leaseTransport(open(), { calls, audience })),
  ]);
  return hostOver(new Map(links), options.clock);
}

export interface StdioServer {
  readonly audience: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child beside the few names that a process needs to run at all: no ambient credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** A longer message ends the connection. */
  readonly messageBytesMax: number;
}

/** A server that is a child process. Its standard error is ours. */
export function stdioServer(server: StdioServer): MessageServer {
  const { audience, command, args, env, messageBytesMax } = server;
  return {
    audience,
    open: () =>
      new StdioClientTransport({
        command,
        args: [...args],
        env: { ...env },
        stderr: 'inherit',
        maxBufferSize: messageBytesMax,
      }),
  };
}
