/** What a person or a pipeline gets from `caseops drill effects`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EFFECT_STORY_IDS } from 'caseops/lab';
import { Home } from './command-line.ts';

interface Story {
  readonly id: string;
  readonly ok: boolean;
  readonly effectCountAtTarget: number;
  readonly guard: string;
}

const TWO = ['lost-acknowledgement', 'self-approval'];

test('drill effects --json tells for each story how many effects the target has and which guard held', () => {
  using home = new Home();
  const done = home.run('drill', 'effects', '--only', TWO.join(','), '--json');
  assert.equal(done.code, 0, done.stderr);
  const check = JSON.parse(done.stdout) as { ok: boolean; counts: { notTested: number }; stories: readonly Story[] };
  assert.equal(check.ok, true);
  assert.equal(check.counts.notTested, EFFECT_STORY_IDS.length - TWO.length);
  assert.deepEqual(
    check.stories.map(({ id, ok, effectCountAtTarget }) => ({ id, ok, effectCountAtTarget })),
    [
      { id: 'lost-acknowledgement', ok: true, effectCountAtTarget: 1 },
      { id: 'self-approval', ok: true, effectCountAtTarget: 0 },
    ],
  );
  for (const { id, guard } of check.stories) assert.notEqual(guard, 'none', id);
});

test('a story that there is not is a usage error that lists those there are', () => {
  using home = new Home();
  const done = home.run('drill', 'effects', '--only', 'nonsense', '--json');
  assert.equal(done.code, 2);
  assert.match(done.stderr, /lost-acknowledgement/);
});
