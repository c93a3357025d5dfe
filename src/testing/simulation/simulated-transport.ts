/** The way from a simulated supervisor to a team: the real door and guard of the team behind a network that loses and repeats. */
import type { Dispatch } from '#contracts/dispatch.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import { never, type ProcessLife } from './process-life.ts';
import type { TeamProcess, World } from './world.ts';

/** As one supervisor process sees the team. */
export function simulatedTransport(world: World, life: ProcessLife, team: string): TeamTransport {
  const link = `a2a:${team}`;
  const { network } = world;
  const receiver = (): TeamProcess => {
    const process = world.teamProcesses.get(team);
    if (process === undefined) throw network.unreachable(link);
    return process;
  };
  /** One question and its answer: the receiver acts when the question arrives, whatever becomes of the answer. */
  const ask = async <T>(work: (transport: TeamTransport) => Promise<T>, signal: AbortSignal): Promise<T> => {
    const twice = await network.carry(link, signal);
    const process = receiver();
    if (twice) void network.later().then(() => orLost(process, work(process.transport)).catch(() => undefined));
    const answer = await orLost(process, work(process.transport));
    await network.carry(link, signal);
    return answer;
  };
  const orLost = <T>(process: TeamProcess, work: Promise<T>): Promise<T> =>
    Promise.race([work, process.life.died.then(() => Promise.reject(network.unreachable(link)))]);
  return {
    team,
    discover: (signal) => life.seen(ask((transport) => transport.discover(signal), signal)),
    cancel: (taskId, lease, signal) => life.seen(ask((transport) => transport.cancel(taskId, lease, signal), signal)),
    send: (dispatch, lease, signal) => send(world, { life, team, link }, { dispatch, lease, signal }),
  };
}

interface Sending {
  readonly dispatch: Dispatch;
  readonly lease: HeldLease;
  readonly signal: AbortSignal;
}

async function* send(
  world: World,
  from: { readonly life: ProcessLife; readonly team: string; readonly link: string },
  sending: Sending,
): AsyncGenerator<TeamUpdate, void, undefined> {
  const { network } = world;
  const { life, link } = from;
  const { dispatch, lease, signal } = sending;
  world.witness.dispatchSent(dispatch);
  const twice = await network.carry(link, signal);
  const process = world.teamProcesses.get(from.team);
  if (process === undefined) throw network.unreachable(link);
  if (twice) void again(world, process, sending);
  const connection = new AbortController();
  const close = (): void => connection.abort(signal.aborted ? signal.reason : network.unreachable(link));
  signal.addEventListener('abort', close, { once: true });
  life.onDeath(close);
  const lost = process.life.died.then(() => Promise.reject(network.unreachable(link)));
  lost.catch(() => undefined);
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  connection.signal.addEventListener('abort', () => aborted.reject(connection.signal.reason), { once: true });
  try {
    const updates = process.transport.send(dispatch, lease, connection.signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([updates.next(), lost, aborted.promise]);
      if (life.dead) return await never();
      if (next.done === true) return;
      const repeated = await network.carry(link, signal);
      if (life.dead) return await never();
      yield next.value;
      if (repeated) yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', close);
    connection.abort(network.unreachable(link));
  }
}

/** The same request arrives a second time, and nobody listens to what is answered. */
async function again(world: World, process: TeamProcess, { dispatch, lease }: Sending): Promise<void> {
  await world.network.later();
  if (process.life.dead) return;
  const nobody = new AbortController();
  process.life.onDeath(() => nobody.abort());
  try {
    for await (const update of process.transport.send(dispatch, lease, nobody.signal)) void update;
  } catch {
    // Whatever it was answered, nobody hears it.
  }
}
