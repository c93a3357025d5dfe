/** Plays the stories about effects, each on a stage of its own, and says what held. Source: LAB "Drills", SURFACES "Check object". */
import { systemClock } from '#runtime/system-clock.ts';
import type { CheckObject } from '../check-object.ts';
import type { SeededBreakName } from './seeded-breaks.ts';
import { auditStage, openStage } from './stage.ts';
import type { Facts, Story } from './story.ts';
import { APPROVAL_STORIES } from './stories-approval.ts';
import { BINDING_STORIES } from './stories-binding.ts';
import { OWNER_STORIES } from './stories-owner.ts';
import { PROCESS_STORIES } from './stories-process.ts';

export interface StoryReport {
  readonly id: string;
  readonly title: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly got: string;
  /** Counted by the owner itself. */
  readonly effectCountAtTarget: number;
  readonly duplicateCount: number;
  readonly unapprovedCount: number;
  /** What refused or held. */
  readonly guard: string;
}

/** The check object with what it rests on: per story the effects counted at the target and the guard that held. */
export interface EffectDrill extends CheckObject {
  readonly stories: readonly StoryReport[];
}

export interface EffectDrillOptions {
  /** Only these stories; all when left out. */
  readonly only?: readonly string[];
  /** A mistake that is planted into the parts: for the tests of the drill. */
  readonly breakName?: SeededBreakName;
  readonly onStory?: (report: StoryReport) => void;
}

const STORIES: readonly Story[] = [...OWNER_STORIES, ...PROCESS_STORIES, ...APPROVAL_STORIES, ...BINDING_STORIES];

export const EFFECT_STORY_IDS: readonly string[] = STORIES.map(({ id }) => id);

/** Ok only if every story went as expected, by the guard that is named, without a second or an unapproved effect. */
export async function runEffectDrill(options: EffectDrillOptions = {}): Promise<EffectDrill> {
  const { only, onStory } = options;
  const stories: StoryReport[] = [];
  for (const story of STORIES) {
    if (only !== undefined && !only.includes(story.id)) continue;
    const report = await playStory(story, options.breakName);
    stories.push(report);
    onStory?.(report);
  }
  return { ...checkOf(stories, STORIES.length - stories.length), stories };
}

async function playStory(story: Story, breakName: SeededBreakName | undefined): Promise<StoryReport> {
  const { id, title } = story;
  await using stage = await openStage(breakName);
  let guard = 'none';
  let facts: Facts = {};
  let failure: string | undefined;
  try {
    ({ guard, facts } = await story.play(stage));
  } catch (error) {
    failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  const audit = await auditStage(stage);
  const expected = told({ effects: story.effectCount, guard: story.guard, ...story.expected });
  const got = failure ?? told({ effects: audit.effectCount, guard, ...facts });
  const { effectCount, duplicateCount, unapprovedCount } = audit;
  return {
    id,
    title,
    ok: expected === got && duplicateCount === 0 && unapprovedCount === 0,
    expected,
    got:
      duplicateCount + unapprovedCount === 0
        ? got
        : `${got} duplicates=${duplicateCount} unapproved=${unapprovedCount}`,
    effectCountAtTarget: effectCount,
    duplicateCount,
    unapprovedCount,
    guard,
  };
}

function told(facts: Facts): string {
  const names = Object.keys(facts).toSorted();
  return names.map((name) => `${name}=${String(facts[name])}`).join(' ');
}

function checkOf(stories: readonly StoryReport[], notTested: number): CheckObject {
  const failed = stories.filter(({ ok }) => !ok);
  const sum = (count: (story: StoryReport) => number): number => stories.reduce((all, story) => all + count(story), 0);
  return {
    name: 'drill effects',
    ok: failed.length === 0 && stories.length > 0,
    counts: { passed: stories.length - failed.length, failed: failed.length, pending: 0, notTested },
    figures: {
      effectCount: sum(({ effectCountAtTarget }) => effectCountAtTarget),
      duplicateCount: sum(({ duplicateCount }) => duplicateCount),
      unapprovedCount: sum(({ unapprovedCount }) => unapprovedCount),
      ...Object.fromEntries(stories.map(({ id, effectCountAtTarget }) => [`effectCount:${id}`, effectCountAtTarget])),
    },
    failures: failed.map(({ id, expected, got }) => ({ id, expected, got })),
    date: systemClock.now(),
  };
}
