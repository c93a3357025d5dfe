/** The rules behind tidy.test.ts, as functions over text, so that violations can be planted. */

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly path: string;
  readonly rule: 'import' | 'room' | 'name' | 'global' | 'ban' | 'file-wall' | 'function-wall' | 'parameters';
  readonly detail: string;
}

const KERNEL_UP = ['contracts', 'kernel', 'ports'];
const PARTS = [
  ...KERNEL_UP,
  'authority',
  'control',
  'execution',
  'effects',
  'evidence',
  'protocols',
  'stores',
  'drivers',
  'telemetry',
  'runtime',
];

/** Room → the rooms it may import beside itself. A room not listed here may not exist. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  kernel: ['contracts'],
  ports: ['contracts'],
  authority: KERNEL_UP,
  evidence: KERNEL_UP,
  control: KERNEL_UP,
  execution: KERNEL_UP,
  effects: KERNEL_UP,
  protocols: KERNEL_UP,
  stores: KERNEL_UP,
  drivers: KERNEL_UP,
  telemetry: KERNEL_UP,
  runtime: PARTS,
  // Drills play the world around the product with the harnesses: owners that fail, teams in memory.
  lab: [...KERNEL_UP, 'runtime', 'testing'],
  // What `caseops/testing` publishes: seeded time and ids, harnesses. Imported by tests, lab and src/testing.ts only.
  testing: [...PARTS],
};

/** Where a third-party package may be imported (prefix of the path); types of zod count as well. */
const PACKAGES: readonly (readonly [pattern: RegExp, places: readonly string[]])[] = [
  [/^zod$/, ['src/contracts/', 'src/protocols/', 'src/effects/targets/', 'src/runtime/', 'src/testing/', 'cases/']],
  [/^@noble\/hashes/, ['src/kernel/']],
  [/^canonicalize$/, ['src/kernel/']],
  [/^(commander|@clack\/prompts)$/, ['cli/']],
  [/^express$/, ['src/protocols/a2a/']],
  [/^@a2a-js\/sdk/, ['src/protocols/a2a/']],
  [/^@modelcontextprotocol\//, ['src/protocols/mcp/']],
  [/^(hono|@hono\/)/, ['src/protocols/http/']],
  [/^(jose|@cedar-policy\/)/, ['src/authority/']],
  [/^(kysely|pg|aws4fetch)$/, ['src/stores/', 'src/testing/postgres-cluster.ts']],
  [/^(nodemailer|smtp-server|@openfeature\/)/, ['src/effects/', 'src/testing/', 'cases/']],
  [/^@opentelemetry\//, ['src/telemetry/']],
  [/^(ai|@ai-sdk\/|cockatiel)/, ['src/protocols/model/']],
];

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|^\s*import\s*)['"]([^'"\n]+)['"]/gm;
const NO_NODE = new Set(['contracts', 'kernel', 'ports']);
const CLOCKED = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(|(?<![.\w])set(?:Timeout|Interval)\(/;
/** The adapters of clock and ids ports, and what runs outside the house. */
const CLOCK_ADAPTERS =
  /^(src\/runtime\/system-(clock|ids)\.ts|src\/authority\/.*|bench\/|scripts\/|test\/|cli\/)|\.test\.ts$/;
const BANNED: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![\w.])any(?=\s*[;,)>\]=|&}]|\[\]|$)(?<=(?::|<|as|\||&|,)\s*any)/m, 'any'],
  [/@ts-ignore|@ts-nocheck/, '@ts-ignore'],
  [/\b(TODO|FIXME|XXX)\b/, 'TODO'],
  [/^export default\b/m, 'export default'],
  [/^export \*/m, 'export *'],
  [/^(export )?(const )?enum\b/m, 'enum'],
  [/\b(test|it|describe|suite)\.(skip|todo|only)\(/, 'skipped or narrowed test'],
];
/** Tests, the suites that several implementations run, and the processes that they start to kill. */
const TEST_FILE = /\.test\.tsx?$|^test\/|(^|\/)([a-z-]+-suite|suite-[a-z-]+|[a-z-]+-child)\.ts$/;
const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 60;
const PARAMETERS_MAX = 3;

export function checkSources(files: readonly SourceFile[]): readonly Violation[] {
  return files.flatMap((file) =>
    file.path === 'test/tidy.test.ts' || file.path === 'test/tidy-rules.ts' ? [] : checkFile(file),
  );
}

function checkFile(file: SourceFile): readonly Violation[] {
  const { path, text } = file;
  const found: Violation[] = [];
  const say = (rule: Violation['rule'], detail: string): void => void found.push({ path, rule, detail });
  const isTest = TEST_FILE.test(path);
  const room = roomOf(path);
  if (room !== undefined && !Object.hasOwn(ROOMS, room)) say('room', `there is no room ${room}`);
  else
    for (const specifier of imports(text))
      for (const detail of checkImport(specifier, { path, room, isTest })) say('import', detail);
  const name = path.split('/').at(-1) ?? '';
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(tsx?|mjs)$/.test(name)) say('name', `${name} is not kebab-case`);
  if (name === 'index.ts' && path !== 'src/index.ts') say('name', 'only src/index.ts is called index');
  if (path.startsWith('src/') && !CLOCK_ADAPTERS.test(path) && CLOCKED.test(text))
    say('global', 'reads the clock, the dice or a timer outside the adapters');
  for (const [pattern, what] of BANNED) if (pattern.test(text)) say('ban', what);
  const lines = text.trimEnd().split('\n').length;
  if (lines > FILE_LINES_MAX) say('file-wall', `${lines} lines`);
  if (!isTest) for (const [rule, detail] of checkFunctions(text)) say(rule, detail);
  return found;
}

/** The room of a file under src/; files directly in src/ are the public surface and belong to none. */
function roomOf(path: string): string | undefined {
  const parts = path.split('/');
  return parts[0] === 'src' && parts.length > 2 ? parts[1] : undefined;
}

function imports(text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, specifier]) => (specifier === undefined ? [] : [specifier]));
}

interface Importer {
  readonly path: string;
  readonly room: string | undefined;
  readonly isTest: boolean;
}

function checkImport(specifier: string, { path, room, isTest }: Importer): readonly string[] {
  const target = /^#([^/]+)\//.exec(specifier)?.[1];
  if (/^(cli|cases)\//.test(path) && (target !== undefined || /(^|\/)src\//.test(specifier))) {
    return isTest && !path.startsWith('cases/') ? [] : [`${path} may use public names only, not ${specifier}`];
  }
  if (target !== undefined) {
    if (room === undefined || room === target) return [];
    if (target === 'testing')
      return isTest || room === 'lab' || path === 'src/testing.ts' ? [] : [`${room} may not import testing`];
    const allowed = ROOMS[room] ?? [];
    return allowed.includes(target) || (isTest && room !== 'kernel' && room !== 'contracts')
      ? []
      : [`${room} may not import ${target}`];
  }
  if (specifier.startsWith('.'))
    return room !== undefined && leavesRoom(path, specifier) ? [`${specifier} leaves the room`] : [];
  if (specifier.startsWith('node:'))
    return room !== undefined && NO_NODE.has(room) && !isTest ? [`${room} may not import ${specifier}`] : [];
  if (isTest || !path.startsWith('src/'))
    return path.startsWith('cli/') || path.startsWith('cases/') || path.startsWith('src/')
      ? thirdParty(specifier, path, isTest)
      : [];
  return thirdParty(specifier, path, isTest);
}

function thirdParty(specifier: string, path: string, isTest: boolean): readonly string[] {
  if (isTest || specifier === 'caseops' || specifier.startsWith('caseops/')) return [];
  const row = PACKAGES.find(([pattern]) => pattern.test(specifier));
  if (row === undefined) return [`${specifier} is in no row of the package table`];
  return row[1].some((place) => path.startsWith(place)) ? [] : [`${specifier} may not be imported by ${path}`];
}

function leavesRoom(path: string, specifier: string): boolean {
  const depth = path.split('/').length - 3;
  const ups = specifier.split('/').filter((part) => part === '..').length;
  return ups > depth;
}

const FUNCTION = /^(?<indent>\s*)(?:export )?(?:async )?function\*? (?<name>\w+)/;

/** Top-level and nested `function` declarations: their length, and their positional parameters. */
function checkFunctions(text: string): readonly (readonly ['function-wall' | 'parameters', string])[] {
  const found: (readonly ['function-wall' | 'parameters', string])[] = [];
  const lines = text.split('\n');
  lines.forEach((line, index) => {
    const match = FUNCTION.exec(line);
    const name = match?.groups?.['name'];
    if (match === null || name === undefined) return;
    const indent = match.groups?.['indent'] ?? '';
    const end = lines.findIndex((other, at) => at > index && other === `${indent}}`);
    if (end - index - 1 > FUNCTION_LINES_MAX) found.push(['function-wall', `${name} has ${end - index - 1} lines`]);
    const count = parameterCount(lines.slice(index, index + 20).join('\n'));
    if (count > PARAMETERS_MAX) found.push(['parameters', `${name} takes ${count} parameters`]);
  });
  return found;
}

function parameterCount(text: string): number {
  let depth = 0;
  let count = 0;
  let inside = false;
  for (const char of text.slice(text.indexOf('(')).replaceAll('=>', '  ')) {
    if (')]}>'.includes(char)) depth -= 1;
    if (depth === 0 && char === ')') return inside ? count + 1 : count;
    if (char === ',' && depth === 1) {
      count += 1;
      inside = false;
    } else if (depth >= 1 && /\S/.test(char)) inside = true;
    if ('([{<'.includes(char)) depth += 1;
  }
  return 0;
}
