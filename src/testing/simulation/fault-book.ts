/** The faults of a world, looked up where they befall: counts what happens at each place. */
import type { Fault } from './fault.ts';

type Of<K extends Fault['kind']> = Extract<Fault, { readonly kind: K }>;

export interface FaultBook {
  /** The next write of a process: what befalls it. */
  write(who: string): readonly (Of<'crash'> | Of<'store'>)[];
  message(link: string): Of<'message'> | undefined;
  tool(team: string): Of<'tool'> | undefined;
  apply(): Of<'owner'> | undefined;
  report(): Of<'again'> | undefined;
  partitioned(link: string, sinceStartMs: number): boolean;
  /** Faults that come at a time of their own. */
  readonly timed: readonly Extract<Fault, { readonly atMs: number }>[];
  /** Faults that befell something so far. */
  readonly struckCount: number;
}

export function openFaultBook(faults: readonly Fault[]): FaultBook {
  const counts = new Map<string, number>();
  let struckCount = 0;
  const count = (place: string): number => {
    const nth = (counts.get(place) ?? 0) + 1;
    counts.set(place, nth);
    return nth;
  };
  const strike = <T>(found: T): T => {
    if (found !== undefined) struckCount += 1;
    return found;
  };
  const of = <K extends Fault['kind']>(kind: K): readonly Of<K>[] =>
    faults.filter((fault): fault is Of<K> => fault.kind === kind);
  const [crashes, stores, messages, tools] = [of('crash'), of('store'), of('message'), of('tool')];
  const [owners, agains, partitions] = [of('owner'), of('again'), of('partition')];
  return {
    write: (who) => {
      const nth = count(`write ${who}`);
      const found = [...crashes, ...stores].filter((fault) => fault.who === who && fault.nth === nth);
      struckCount += found.length;
      return found;
    },
    message: (link) => {
      const nth = count(`message ${link}`);
      return strike(messages.find((fault) => fault.link === link && fault.nth === nth));
    },
    tool: (team) => {
      const nth = count(`tool ${team}`);
      return strike(tools.find((fault) => fault.team === team && fault.nth === nth));
    },
    apply: () => {
      const nth = count('apply');
      return strike(owners.find((fault) => fault.nth === nth));
    },
    report: () => {
      const nth = count('report');
      return strike(agains.find((fault) => fault.nth === nth));
    },
    partitioned: (link, sinceStartMs) =>
      partitions.some(
        (fault) => fault.link === link && sinceStartMs >= fault.atMs && sinceStartMs < fault.atMs + fault.forMs,
      ),
    timed: faults.filter((fault) => 'atMs' in fault),
    get struckCount() {
      return struckCount;
    },
  };
}
