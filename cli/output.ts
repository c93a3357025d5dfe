/** stdout is data, stderr is progress and hints; colour only on a terminal and never with NO_COLOR. */
import { styleText } from 'node:util';

export type Format = 'table' | 'json' | 'jsonl';

/** A reader that has seen enough (`| head`) is no failure: what is left is dropped, and the exit code stays the command's own. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

export function print(text: string): void {
  process.stdout.write(`${visible(text)}\n`);
}

export function hint(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}

/** What `tone` writes; every other control character, and what turns the direction of writing, comes from data. */
const OWN_STYLE = /^\u001b\[(?:1|2|22|3[0-9])m/;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Shows the control characters of goals, records and messages, so that none of them can steer the reader's terminal. */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, (found, offset: number) =>
    found === '\u001b' && OWN_STYLE.test(text.slice(offset, offset + 5))
      ? found
      : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function printLines(values: readonly unknown[]): void {
  for (const value of values) print(JSON.stringify(value));
}

/** A value as the format says; a person gets the text. */
export function show(value: unknown, format: Format, text: () => string): void {
  if (format === 'json') printJson(value);
  else if (format === 'jsonl') printLines(Array.isArray(value) ? value : [value]);
  else print(text());
}

type Tone = 'ok' | 'bad' | 'warn' | 'quiet' | 'strong' | 'accent';
const STYLE = { ok: 'green', bad: 'red', warn: 'yellow', quiet: 'dim', strong: 'bold', accent: 'cyan' } as const;

/** Text in a tone on `stream`, plain where the stream is no terminal. */
export function tone(kind: Tone, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(STYLE[kind], text, { stream });
}

/** Columns aligned by their widest cell; the last is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (seen, row) => row.map((cell, index) => Math.max(seen[index] ?? 0, displayWidth(cell))),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          index === row.length - 1 ? cell : cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) - displayWidth(cell))),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Columns a text takes: escapes none, East Asian wide characters two. */
function displayWidth(text: string): number {
  let width = 0;
  // oxlint-disable-next-line no-control-regex
  for (const char of text.replaceAll(/\u001b\[[0-9;]*m/g, '')) width += WIDE.test(char) ? 2 : 1;
  return width;
}

/** Breaks a text at spaces into lines of at most `columns`; East Asian text may break anywhere. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )|(?<=[\u3001\u3002\u3040-\u30ff\u4e00-\u9fff])/u)) {
    if (line !== '' && displayWidth(line + word.trimEnd()) > columns) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
  }
  return [...lines, line.trimEnd()];
}
