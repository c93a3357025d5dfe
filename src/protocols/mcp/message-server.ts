/** An MCP server over a message transport (stdio, in-memory) behind the guard. Source: SEAMS §1 "stdio and in-memory". */
import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { guardTransport, type MessageGuardOptions } from './message-guard.ts';
import { createSdkServer } from './sdk-server.ts';

export interface ServedMessages {
  close(): Promise<void>;
}

/** Serves one connection. `audience` is the server's name, such as `stdio:claims`. */
export function serveMcpMessages(options: MessageGuardOptions, inner: Transport): ServedMessages {
  const guarded = guardTransport(inner, options);
  const factory = (): ReturnType<typeof createSdkServer> =>
    createSdkServer(options.server, (context) => guarded.grantOf(context));
  return serveStdio(factory, { legacy: 'reject', transport: guarded.transport });
}

/** Serves this process's standard input and output; a message is at most `messageBytesMax` long. */
export function serveMcpStdio(options: MessageGuardOptions & { readonly messageBytesMax: number }): ServedMessages {
  return serveMcpMessages(
    options,
    new StdioServerTransport(undefined, undefined, { maxBufferSize: options.messageBytesMax }),
  );
}
