/**
 * Derived values: a small arithmetic over named inputs, so that code computes what an inference says and nobody spells it.
 * `+ - * /`, parentheses, numbers, names, and `round(x, digits)`. Source: DESIGN §3.9.
 */

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([a-zA-Z][a-zA-Z0-9]*)|([-+*/(),]))/y;
const DEPTH_MAX = 32;

interface Reader {
  readonly tokens: readonly string[];
  at: number;
  depth: number;
  readonly inputs: ReadonlyMap<string, number>;
}

/** The value, or undefined: not a formula, an unknown name, nested deeper than 32, or a result that is not finite. */
export function evaluateFormula(formula: string, inputs: ReadonlyMap<string, number>): number | undefined {
  const tokens = tokensOf(formula);
  if (tokens === undefined) return undefined;
  const reader: Reader = { tokens, at: 0, depth: 0, inputs };
  const value = sum(reader);
  return reader.at === tokens.length && Number.isFinite(value) ? value : undefined;
}

/** The names a formula uses, each once. */
export function formulaNames(formula: string): readonly string[] {
  return [...new Set((tokensOf(formula) ?? []).filter((token) => /^[a-zA-Z]/.test(token) && token !== 'round'))];
}

function tokensOf(formula: string): readonly string[] | undefined {
  const tokens: string[] = [];
  const text = formula.trimEnd();
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return undefined;
    tokens.push(token.trim());
  }
  return tokens;
}

function take(reader: Reader, token: string): boolean {
  if (reader.tokens[reader.at] !== token) return false;
  reader.at += 1;
  return true;
}

/** NaN stands for "not a formula": it stays NaN through every operation. */
function sum(reader: Reader): number {
  let value = product(reader);
  for (;;) {
    if (take(reader, '+')) value += product(reader);
    else if (take(reader, '-')) value -= product(reader);
    else return value;
  }
}

function product(reader: Reader): number {
  let value = factor(reader);
  for (;;) {
    if (take(reader, '*')) value *= factor(reader);
    else if (take(reader, '/')) value /= factor(reader);
    else return value;
  }
}

function factor(reader: Reader): number {
  reader.depth += 1;
  const value = reader.depth > DEPTH_MAX ? Number.NaN : atom(reader);
  reader.depth -= 1;
  return value;
}

function atom(reader: Reader): number {
  if (take(reader, '-')) return -factor(reader);
  if (take(reader, '(')) {
    const value = sum(reader);
    return take(reader, ')') ? value : Number.NaN;
  }
  if (take(reader, 'round')) return rounded(reader);
  const token = reader.tokens[reader.at];
  reader.at += 1;
  if (token === undefined) return Number.NaN;
  return reader.inputs.get(token) ?? (/^\d/.test(token) ? Number(token) : Number.NaN);
}

function rounded(reader: Reader): number {
  if (!take(reader, '(')) return Number.NaN;
  const value = sum(reader);
  const digits = take(reader, ',') ? sum(reader) : 0;
  if (!take(reader, ')') || !Number.isInteger(digits) || digits < 0 || digits > 12) return Number.NaN;
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
