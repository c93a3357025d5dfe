/** What a store implementation gives to the store suite. */
import type { Clock } from '#ports/clock.ts';
import type { Store } from '#ports/store.ts';

/** An empty place for one test's data. */
export interface StoreSubject extends AsyncDisposable {
  /** Opens the place; several times one after the other, or at the same time as several processes would. */
  open(clock: Clock): Promise<Store>;
  /** An artifact store stands behind it, so that large artifacts are taken too. Default false. */
  readonly hasLargeArtifacts?: boolean;
  /** A script that opens the same place and runs `commitUntilKilled`. */
  readonly crashChild: { readonly script: URL; readonly args: readonly string[] };
}
