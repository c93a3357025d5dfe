/** Every artifact that a run brought into the store by itself: accepted or not, delivered, read back, or as it was dispatched to a team. */
import { digest as digestSchema, type Digest } from '#contracts/ids.ts';
import type { RunEvent } from '#contracts/event.ts';

/** What it took over from an earlier run is that run's. */
export function artifactsOf(events: readonly RunEvent[]): readonly Digest[] {
  const found = new Set<Digest>();
  const reused = new Set<string>();
  for (const event of events) {
    if (event.kind === 'step.reused') reused.add(event.body.stepId);
    for (const digest of digestsIn(event, reused)) found.add(digest);
  }
  return [...found];
}

function digestsIn({ kind, body }: RunEvent, reused: ReadonlySet<string>): readonly Digest[] {
  if (kind === 'artifact.received') return body.artifactRef === undefined ? [] : [body.artifactRef];
  if (kind === 'effect.confirmed') return [body.artifactRef];
  if (kind === 'step.settled') {
    const { artifactRef, stepId } = body.result;
    return artifactRef === undefined || reused.has(stepId) ? [] : [artifactRef];
  }
  if (kind !== 'run.received') return [];
  // A team keeps the dispatch itself, under the digest that is its run's statement.
  const dispatch = digestSchema.safeParse(body.statement);
  return dispatch.success ? [dispatch.data] : [];
}
