/** Drills: what the product must withstand, played on its real parts. */
export {
  EFFECT_STORY_IDS,
  runEffectDrill,
  type EffectDrill,
  type EffectDrillOptions,
  type StoryReport,
} from './lab/effects/effect-drill.ts';
export type { CheckObject } from './lab/check-object.ts';
