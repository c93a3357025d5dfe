/** What a checking command prints with `--json`: one object, and the exit code says whether all held. Source: SURFACES "Check object". */
import { parseArgs } from 'node:util';
import { systemClock } from '#runtime/system-clock.ts';

export interface CheckFailure {
  readonly id: string;
  readonly expected: string;
  readonly got: string;
}

export interface CheckObject {
  readonly name: string;
  readonly ok: boolean;
  readonly counts: {
    readonly passed: number;
    readonly failed: number;
    readonly pending: number;
    readonly notTested: number;
  };
  readonly figures: Readonly<Record<string, number>>;
  readonly failures: readonly CheckFailure[];
  readonly seed?: number;
  readonly date: string;
}

const FAILURE_COUNT_MAX = 100;

/** Not ok when there is a failure or when nothing was checked. */
export function checkObject(
  name: string,
  of: {
    readonly passed: number;
    readonly failures: readonly CheckFailure[];
    readonly figures: Readonly<Record<string, number>>;
    readonly seed?: number;
  },
): CheckObject {
  const { passed, failures, figures, seed } = of;
  return {
    name,
    ok: failures.length === 0 && passed > 0,
    counts: { passed, failed: failures.length, pending: 0, notTested: 0 },
    figures,
    failures: failures.slice(0, FAILURE_COUNT_MAX),
    ...(seed === undefined ? {} : { seed }),
    date: systemClock.now(),
  };
}

/** The whole numbers that a command was given as `--name N`. */
export function numberOptions<K extends string>(
  defaults: Readonly<Record<K, number>>,
): Record<K, number> & { json: boolean } {
  const names = Object.keys(defaults) as K[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const parsed = parseArgs({ options: { ...options, json: { type: 'boolean' as const } } });
  const values: Readonly<Record<string, string | boolean | undefined>> = parsed.values;
  const given = Object.fromEntries(
    names.map((name) => {
      const text = values[name];
      const number = text === undefined ? defaults[name] : Number(text);
      if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} expects a whole number above 0`);
      return [name, number];
    }),
  ) as Record<K, number>;
  return { ...given, json: values['json'] === true };
}

/** Prints the object, or its figures for people. */
export function report(check: CheckObject, json: boolean): void {
  process.exitCode = check.ok ? 0 : 1;
  if (json) return void process.stdout.write(`${JSON.stringify(check, null, 2)}\n`);
  const lines = [
    `${check.name}: ${check.ok ? 'ok' : 'FAILED'} (${check.counts.passed} passed, ${check.counts.failed} failed)`,
    ...Object.entries(check.figures).map(([name, value]) => `  ${name} ${value}`),
    ...check.failures.map(({ id, expected, got }) => `  ${id}: expected ${expected}, got ${got}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
