/** States from which a run cannot come to its end, found backwards from its ends. */
import type { MoveBy } from './move.ts';

export interface Edges {
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly by: readonly MoveBy[];
}

/** `due`: past its deadline. `conflicted`: stands still for two results that contradict each other. Both end by deadline or cancellation only. */
export type Mark = 'open' | 'due' | 'conflicted' | 'ended';

interface DeadEnd {
  readonly id: number;
  readonly message: string;
}

const DEAD_END_COUNT_MAX = 5;
/** An end that only a cancellation, a deadline or a mistake leads to is none that a run works towards. */
const LEADING: ReadonlySet<MoveBy> = new Set(['todo', 'arrival', 'person', 'time']);

/** The states, shallowest first, from which no end can be reached at all, or none by what was asked for, delivered and decided. */
export function unreachedEnds(marks: readonly Mark[], edges: Edges): readonly DeadEnd[] {
  const ended = marks.map((mark) => mark === 'ended');
  const anyhow = backwards(ended, edges, () => true);
  const working = backwards(
    marks.map((mark) => mark !== 'open'),
    edges,
    (by) => LEADING.has(by),
  );
  const found: DeadEnd[] = [];
  for (let id = 0; id < ended.length && found.length < DEAD_END_COUNT_MAX; id += 1) {
    if (anyhow[id] !== true) found.push({ id, message: 'No end can be reached from here.' });
    else if (working[id] !== true) found.push({ id, message: 'No end but by deadline or cancellation.' });
  }
  return found;
}

function backwards(
  ended: readonly boolean[],
  { from, to, by }: Edges,
  counts: (by: MoveBy) => boolean,
): readonly boolean[] {
  const before: number[][] = ended.map(() => []);
  for (const [at, target] of to.entries()) {
    const source = from[at];
    const move = by[at];
    if (source !== undefined && move !== undefined && counts(move)) before[target]?.push(source);
  }
  const reaches = [...ended];
  const queue = ended.flatMap((over, id) => (over ? [id] : []));
  for (const id of queue)
    for (const source of before[id] ?? []) {
      if (reaches[source] === true) continue;
      reaches[source] = true;
      queue.push(source);
    }
  return reaches;
}
