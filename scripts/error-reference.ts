/** docs/errors.md as text: from the code union, the meanings, and the places in the source that say a code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, errorKind, type ErrorCode } from '#contracts/error.ts';
import { statusOf } from '#protocols/http/problem.ts';
import { ERROR_MEANINGS, KIND_MEANINGS } from './error-meanings.ts';

const SOURCE = join(import.meta.dirname, '../src');

export function errorReference(): string {
  const rooms = roomsByCode();
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const sections = errorKind.options.flatMap((kind) => [
    `## ${kind}`,
    '',
    KIND_MEANINGS[kind],
    '',
    '| code | means | what to do next | said by | HTTP |',
    '|---|---|---|---|---|',
    ...codes
      .filter((code) => ERROR_CODES[code] === kind)
      .map((code) => {
        const { meaning, next } = ERROR_MEANINGS[code];
        return `| \`${code}\` | ${meaning} | ${next} | ${rooms.get(code)?.join(', ') ?? 'reserved'} | ${statusOf(code)} |`;
      }),
    '',
  ]);
  return [
    '<!-- Written by scripts/write-error-reference.ts (npm run errors); a test fails when it is stale. -->',
    '',
    '# Errors',
    '',
    'Every failure has a `code`, a `kind` that says what the caller does next, a sentence, `at` (the part that said so) and `retryable`.',
    `There are ${codes.length} codes. Adding one is a minor version, removing one a major.`,
    '',
    ...sections,
  ].join('\n');
}

/** The rooms of `src/` whose files, tests aside, name a code. */
function roomsByCode(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const entry of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
    const [room = '', ...rest] = entry.split('/');
    if (rest.length === 0 || !entry.endsWith('.ts') || /\.test\.ts$|suite/.test(entry)) continue;
    if (['contracts', 'testing'].includes(room)) continue;
    const named = readFileSync(join(SOURCE, entry), 'utf8').matchAll(/'(ERR_[A-Z_]+)'/g);
    for (const [, code = ''] of named) found.set(code, (found.get(code) ?? new Set()).add(room));
  }
  return new Map([...found].map(([code, rooms]) => [code, [...rooms].toSorted()]));
}
