/** Serves a fetch-style application on a loopback port. */
import { CaseOpsError } from '#contracts/error.ts';
import { createAdaptorServer } from '@hono/node-server';
import type { AddressInfo } from 'node:net';

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
}

export interface ServeHttpOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Resolves when it listens; ERR_CONFIG when the port is taken. */
export async function serveHttp({ fetch, host, port }: ServeHttpOptions): Promise<HttpServer> {
  const server = createAdaptorServer({ fetch });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new CaseOpsError(
          'ERR_CONFIG',
          `Could not listen on ${host}:${port} (${cause.code ?? 'unknown'}). Choose another port with --port, or end the process that has it.`,
          { at: 'http', cause },
        ),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}
