/**
 * Fuzz: valid messages, changed in structure and text, at each door. A door must not crash, must not blame itself, must name what it refuses,
 * must refuse what is no JSON, and must not record what it refused. Source: issue 3 "Malformed input at each door".
 */
import { type CheckFailure, type CheckObject, checkObject } from './check-object.ts';
import type { Door } from './doors.ts';
import { openGoalTextDoor, openHttpDoor } from './http-doors.ts';
import { mutate } from './mutate.ts';
import { seededDice } from './seeded-dice.ts';
import { openA2aDoor, openConfigDoor, openMcpRequestDoor, openMcpResultDoor } from './wire-doors.ts';

export interface FuzzOptions {
  readonly caseCount: number;
  readonly seed: number;
  /** No new case after so long. */
  readonly durationMsMax: number;
}

/** Shares of the cases; a door behind a socket and a signature takes longer. */
const DOORS: readonly (readonly [share: number, open: () => Promise<Door> | Door])[] = [
  [0.28, openConfigDoor],
  [0.22, openGoalTextDoor],
  [0.16, () => openHttpDoor('runs')],
  [0.06, () => openHttpDoor('plans')],
  [0.06, () => openHttpDoor('answer')],
  [0.06, () => openHttpDoor('cancel')],
  [0.06, openMcpResultDoor],
  [0.04, openMcpRequestDoor],
  [0.03, () => openA2aDoor('HTTP+JSON')],
  [0.03, () => openA2aDoor('JSONRPC')],
];
const FAILURE_COUNT_MAX = 20;

export async function runFuzz({ caseCount, seed, durationMsMax }: FuzzOptions): Promise<CheckObject> {
  const failures: CheckFailure[] = [];
  const figures: Record<string, number> = { doorCount: DOORS.length, unhandledRejectionCount: 0 };
  const onUnhandled = (reason: unknown): void => {
    figures['unhandledRejectionCount'] = (figures['unhandledRejectionCount'] ?? 0) + 1;
    failures.push({ id: 'unhandled rejection', expected: 'none', got: String(reason).slice(0, 500) });
  };
  process.on('unhandledRejection', onUnhandled);
  const startMs = performance.now();
  let total = 0;
  try {
    for (const [index, [share, open]] of DOORS.entries()) {
      await using door = await open();
      const untilMs = startMs + (durationMsMax * (index + 1)) / DOORS.length;
      const wanted = Math.max(1, Math.round(caseCount * share));
      const done = await fuzzDoor(door, { wanted, seed: seed + index, untilMs });
      failures.push(...done.failures);
      total += done.caseCount;
      const name = door.name.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_whole, letter: string) => letter.toUpperCase());
      figures[`${name}CaseCount`] = done.caseCount;
      figures[`${name}TakenCount`] = done.takenCount;
    }
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }
  figures['caseCount'] = total;
  figures['durationMs'] = Math.round(performance.now() - startMs);
  return checkObject('campaign:fuzz', { passed: total - failures.length, failures, figures, seed });
}

async function fuzzDoor(
  door: Door,
  { wanted, seed, untilMs }: { readonly wanted: number; readonly seed: number; readonly untilMs: number },
): Promise<{ readonly failures: CheckFailure[]; readonly caseCount: number; readonly takenCount: number }> {
  const dice = seededDice(seed);
  const failures: CheckFailure[] = [];
  let [caseCount, takenCount] = [0, 0];
  // The message as it is must be taken, or nothing is shown by what is refused.
  const plain = mutate(await door.message(), { below: () => 0, one: ([first]) => first, chance: () => false });
  if ((await door.offer(plain.bytes)).taken === DOORS_THAT_REFUSE.has(door.name))
    failures.push({ id: `${door.name} valid`, expected: 'taken', got: 'refused' });
  while (caseCount < wanted && failures.length < FAILURE_COUNT_MAX && performance.now() < untilMs) {
    const mutated = mutate(await door.message(), dice);
    const id = `${door.name} ${seed}/${caseCount} ${mutated.how.slice(0, 200)}`;
    const before = door.recordedCount();
    caseCount++;
    try {
      const { taken, code, said, broken } = await door.offer(mutated.bytes);
      const recorded = door.recordedCount() - before;
      if (taken) takenCount++;
      if (taken && mutated.illFormed) failures.push({ id, expected: 'refused: no JSON', got: 'taken' });
      if (broken) failures.push({ id, expected: 'a refusal', got: `${code} ${said}`.slice(0, 500) });
      if (!taken && (code === '' || said.trim() === ''))
        failures.push({
          id,
          expected: 'a code and a sentence',
          got: `${JSON.stringify(code)} ${JSON.stringify(said)}`,
        });
      if (!taken && recorded !== 0) failures.push({ id, expected: 'nothing recorded', got: `${recorded} rows` });
    } catch (error) {
      failures.push({ id, expected: 'an answer', got: error instanceof Error ? `${error.stack}` : String(error) });
    }
  }
  return { failures, caseCount, takenCount };
}

/** Their run does not exist: all that gets through is refused as not found. */
const DOORS_THAT_REFUSE: ReadonlySet<string> = new Set(['http answer', 'http cancel']);
