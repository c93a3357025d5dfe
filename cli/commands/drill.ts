/** `caseops drill effects`: plays the stories about effects and says which guard held. Exit 0 when all did, 11 otherwise. */
import { CaseOpsError } from 'caseops';
import { EFFECT_STORY_IDS, runEffectDrill, type EffectDrill, type StoryReport } from 'caseops/lab';
import { EXIT } from '../exit-codes.ts';
import { hint, print, printJson, printLines, table, tone, type Format } from '../output.ts';

interface DrillOptions {
  readonly only: string;
  readonly json?: boolean;
  readonly output: Format;
}

/** ERR_USAGE for a story that there is not. */
export async function drillEffects({ only, json, output }: DrillOptions): Promise<number> {
  const named = only.split(',').filter((id) => id !== '');
  const unknown = named.filter((id) => !EFFECT_STORY_IDS.includes(id));
  if (unknown.length > 0)
    throw new CaseOpsError(
      'ERR_USAGE',
      `Expected stories of ${EFFECT_STORY_IDS.join(', ')}; got ${unknown.join(', ')}.`,
      {
        at: 'cli',
      },
    );
  const drill = await runEffectDrill({
    ...(named.length === 0 ? {} : { only: named }),
    onStory: ({ ok, title }) =>
      hint(`${ok ? tone('ok', 'ok', process.stderr) : tone('bad', 'FAILED', process.stderr)} ${title}`),
  });
  if (json === true || output === 'json') printJson(drill);
  else if (output === 'jsonl') printLines(drill.stories);
  else print(render(drill));
  return drill.ok ? EXIT.ok : EXIT.drillFailed;
}

function render({ counts, figures, failures, stories }: EffectDrill): string {
  const { passed, failed } = counts;
  const { duplicateCount, unapprovedCount } = figures;
  return [
    table([['story', '', 'effects at target', 'held by'], ...stories.map(rowOf)]),
    ...failures.map(({ id, expected, got }) => `${id}\n  expected ${expected}\n  got      ${got}`),
    `${passed} held, ${failed} did not. Duplicates ${duplicateCount}, unapproved ${unapprovedCount}.`,
  ].join('\n\n');
}

function rowOf({ id, ok, effectCountAtTarget, guard }: StoryReport): readonly string[] {
  return [id, ok ? tone('ok', 'ok') : tone('bad', 'failed'), String(effectCountAtTarget), guard];
}
