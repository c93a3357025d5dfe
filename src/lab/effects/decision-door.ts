/** Decisions over HTTP on loopback, so that a drill can keep a request as it was sent and send it once more. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CaseOpsError } from '#contracts/error.ts';
import type { DecideRequest } from '#ports/approval-desk.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { APPROVER } from './notice-teams.ts';

export interface DecisionDoor extends AsyncDisposable {
  readonly url: string;
}

/** Every caller is the approver: the drill is about what comes twice, not about who comes. */
export async function openDecisionDoor({ desk }: EffectWorld): Promise<DecisionDoor> {
  const server = createServer((request, response) => {
    void decide(desk, request).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/decisions`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function decide(
  desk: EffectWorld['desk'],
  request: IncomingMessage,
): Promise<{ readonly status: number; readonly body: unknown }> {
  try {
    return { status: 200, body: await desk.decide(APPROVER, JSON.parse(await text(request)) as DecideRequest) };
  } catch (error) {
    return { status: 409, body: { code: error instanceof CaseOpsError ? error.code : 'ERR_STATE' } };
  }
}
