/** The model of consumption, intent, send, read-back and retry, explored whole by spin: it holds, and each seeded mistake is found. INV-12, INV-13 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const MODEL = join(import.meta.dirname, '../../models/effect-once.pml');
const MISTAKES = ['SPLIT', 'NO_LOOKUP', 'NEW_KEY', 'BLIND', 'NO_KEY', 'NO_VERSION', 'REUSE'];
const missing = ['spin', 'gcc'].filter((tool) => spawnSync(tool, [tool === 'spin' ? '-V' : '--version']).status !== 0);
const skip = missing.length === 0 ? false : `not on this machine: ${missing.join(', ')}`;

interface Explored {
  readonly errorCount: number;
  readonly stateCount: number;
  readonly text: string;
}

function explore(mistake: string | undefined): Explored {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-spin-'));
  try {
    execFileSync('spin', [...(mistake === undefined ? [] : [`-DBUG_${mistake}`]), '-a', MODEL], {
      cwd: directory,
      stdio: 'pipe',
    });
    execFileSync('gcc', ['-O2', '-DSAFETY', '-o', 'pan', 'pan.c'], { cwd: directory, stdio: 'pipe' });
    const text = execFileSync(join(directory, 'pan'), ['-m1000000'], { cwd: directory, encoding: 'utf8' });
    return {
      errorCount: Number(/errors: (\d+)/.exec(text)?.[1] ?? NaN),
      stateCount: Number(/^\s*(\d+) states, stored/m.exec(text)?.[1] ?? NaN),
      text,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('every reachable state of the model holds', { skip }, () => {
  const { errorCount, stateCount, text } = explore(undefined);
  assert.equal(errorCount, 0, text);
  assert.ok(stateCount > 10_000, `only ${stateCount} states: the model hardly moves`);
  assert.doesNotMatch(text, /max search depth too small|Search not completed/);
});

for (const mistake of MISTAKES) {
  test(`the mistake ${mistake} is found`, { skip }, () => {
    const { errorCount, text } = explore(mistake);
    assert.equal(errorCount, 1, text);
    assert.match(text, /assertion violated/);
  });
}
