/** How every engine of `bench:kernel` is measured: some runs always in flight, for a while. Imports nothing, so that peers can use it too. */

export interface Measured {
  readonly runsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of this process: user and system, all threads. */
  readonly cpuMsPerRun: number;
}

/** Keeps `inFlight` of `once` going for a while. */
export async function measure(once: () => Promise<void>, inFlight: number, seconds: number): Promise<Measured> {
  const durations: number[] = [];
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const lane = async (): Promise<void> => {
    while (performance.now() - startMs < seconds * 1_000) {
      const fromMs = performance.now();
      await once();
      durations.push(performance.now() - fromMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const tookS = (performance.now() - startMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  durations.sort((a, b) => a - b);
  const count = durations.length;
  const at = (share: number): number => round(durations[Math.floor(count * share)] ?? 0);
  return {
    runsPerSecond: Math.round(count / tookS),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMsPerRun: round((user + system) / 1_000 / count),
  };
}

/** To a thousandth. */
export function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
