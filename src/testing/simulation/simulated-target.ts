/** The owner of effects behind the network: one target in memory outlives all processes and counts what it applied. */
import type { Applied, EffectTarget } from '#ports/effect-target.ts';
import type { MemoryTarget } from '../memory-effect-target.ts';
import type { ProcessLife } from './process-life.ts';
import type { World } from './world.ts';

const LINK = 'owner';

/** As one supervisor process reaches it. */
export function simulatedTarget(world: World, life: ProcessLife, owner: MemoryTarget): EffectTarget {
  const { network, book, witness } = world;
  const ask = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    life.seen(
      (async () => {
        const twice = await network.carry(LINK, signal);
        if (twice)
          void network
            .later()
            .then(work, () => undefined)
            .catch(() => undefined);
        const answer = await work();
        await network.carry(LINK, signal);
        return answer;
      })(),
    );
  const reached: EffectTarget = {
    ...owner,
    validate: (parameters) => owner.validate(parameters),
    postcondition: (action, applied) => owner.postcondition(action, applied),
    read: (resource, tenant, signal) => ask(() => owner.read(resource, tenant, signal), signal),
    readBack: (key, action, signal) => ask(() => owner.readBack(key, action, signal), signal),
    apply: (request, signal) => {
      const work = (): Promise<Applied> => {
        const fault = book.apply();
        if (fault !== undefined) owner.faults.push(fault.how);
        witness.applyAsked({ life, request });
        return owner.apply(request, signal).finally(() => witness.applied(owner, request));
      };
      return ask(work, signal);
    },
  };
  return world.variant.target?.(reached) ?? reached;
}
