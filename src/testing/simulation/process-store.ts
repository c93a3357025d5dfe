/** The store as one simulated process has it, broken where the variant says. */
import type { Store } from '#ports/store.ts';
import { mortalStore } from './mortal-store.ts';
import type { ProcessLife } from './process-life.ts';
import type { World } from './world.ts';

export function processStore(
  world: World,
  of: { readonly role: string; readonly life: ProcessLife; readonly store: Store },
): Store {
  const { role, life, store } = of;
  const crash = (downMs: number): void => world.crash(role, life, downMs);
  const mortal = mortalStore({ store, who: role, life, book: world.book, crash });
  return world.variant.store?.(mortal) ?? mortal;
}
