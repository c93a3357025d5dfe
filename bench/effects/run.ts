/**
 * The same stories of an effect on four frameworks and on ours, each against an owner that counts what it applied. The peers are
 * installed beside this script and nowhere else. Prints a table, or with --json the check object; ok means that ours applied nothing
 * twice, nothing unapproved and nothing against a version that was not approved.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const PEERS = ['langgraph', 'mastra', 'openai-agents', 'ai-sdk'];
/** Story → the drill of ours that tells it. */
const STORIES = {
  lostAcknowledgement: { title: 'reply lost after the owner applied it', drill: 'lost-acknowledgement' },
  approvedTwice: { title: 'one approval submitted twice', drill: 'approved-twice-in-parallel' },
  versionMoved: { title: 'record moved from v17 to v18 after the approval', drill: 'resource-version-moved' },
  editedAfterApproval: { title: 'content edited after the approval', drill: 'packet-edited-after-approval' },
} as const;
type StoryId = keyof typeof STORIES;
const STORY_IDS: readonly StoryId[] = ['lostAcknowledgement', 'approvedTwice', 'versionMoved', 'editedAfterApproval'];

interface Told {
  readonly effects?: number;
  readonly atVersion?: readonly number[];
  readonly note?: string;
  readonly notApplicable?: boolean;
}

interface Column {
  readonly name: string;
  readonly version: string;
  readonly stories: Readonly<Record<string, Told>>;
}

if (!existsSync(join(HERE, 'peers/node_modules'))) {
  console.error('Installing the four frameworks beside this script …');
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: join(HERE, 'peers'), stdio: ['ignore', 'ignore', 'inherit'] });
}
const columns: readonly Column[] = [...PEERS.map(peer), ours()];
const own = columns.at(-1);
const failures = STORY_IDS.filter(
  (id) => (own?.stories[id]?.effects ?? Infinity) > (id === 'lostAcknowledgement' || id === 'approvedTwice' ? 1 : 0),
).map((id) => ({
  id,
  expected: 'no second, unapproved or outdated effect',
  got: JSON.stringify(own?.stories[id]),
}));
const figures = Object.fromEntries(
  columns.flatMap((column) =>
    STORY_IDS.map((id) => [`${column.name} ${id} effect_count`, column.stories[id]?.effects ?? null]),
  ),
);
const counts = { passed: STORY_IDS.length - failures.length, failed: failures.length, pending: 0, notTested: 0 };
if (process.argv.includes('--json')) {
  console.log(
    JSON.stringify({
      name: 'bench:effects',
      ok: failures.length === 0,
      counts,
      figures,
      failures,
      columns,
      date: new Date().toISOString(),
    }),
  );
} else {
  for (const id of STORY_IDS) {
    console.log(`\n${STORIES[id].title}`);
    for (const column of columns)
      console.log(`  ${`${column.name} ${column.version}`.padEnd(28)} ${line(column.stories[id])}`);
  }
  console.log(
    '\nEffects are counted by the owner. What a framework documents as the application’s job is said beside its figure.',
  );
}
process.exitCode = failures.length === 0 ? 0 : 1;

function line(told: Told | undefined): string {
  if (told === undefined || told.notApplicable === true)
    return '–            not offered between approval and execution';
  const version = told.atVersion?.includes(18) === true ? ', written against v18' : '';
  return `${told.effects ?? '?'} effects${version}. ${told.note ?? ''}`;
}

function peer(name: string): Column {
  const text = execFileSync(process.execPath, [join(HERE, 'run-peer.mjs'), name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
  });
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Column;
}

interface StoryLine {
  readonly id: string;
  readonly effectCountAtTarget: number;
  readonly guard: string;
}

/** Our side is the product's own drill, on its real parts. */
function ours(): Column {
  const only = STORY_IDS.map((id) => STORIES[id].drill).join(',');
  const main = join(HERE, '../../cli/main.ts');
  const flags = ['--conditions=@caseops/source', main, 'drill', 'effects', '--only', only, '-o', 'jsonl'];
  const text = execFileSync(process.execPath, flags, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
  });
  const told = text
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row) as StoryLine);
  const stories = STORY_IDS.map((id): readonly [string, Told] => {
    const drill = told.find((story) => story.id === STORIES[id].drill);
    if (drill === undefined) return [id, { note: `the drill ${STORIES[id].drill} was not told` }];
    return [id, { effects: drill.effectCountAtTarget, note: `held by ${drill.guard}` }];
  });
  return { name: 'CaseOps', version: '', stories: Object.fromEntries(stories) };
}
