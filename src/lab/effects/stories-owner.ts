/** Drills about an owner that fails: the reply is lost, nothing is shown, it is not available. */
import type { RunEvent } from '#contracts/event.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import type { EffectOwner } from '#testing/effect-owner.ts';
import { approve, askForNotice, eventsOf, settled } from './desk-work.ts';
import { APPROVER } from './notice-teams.ts';
import type { Stage } from './stage.ts';
import type { Facts, Story, Told } from './story.ts';

export const OWNER_STORIES: readonly Story[] = [
  {
    id: 'lost-acknowledgement',
    title: 'The owner commits and drops the reply.',
    effectCount: 1,
    guard: 'read_back',
    expected: { result: 'completed', effect: 'completed', answered: 'unknown', sends: 1, attempts: 1 },
    play: (stage) => approvedWith(stage, (owner) => (owner.fault = 'drop_reply')),
  },
  {
    id: 'owner-unavailable-before-send',
    title: 'The owner answers 503 before it has the request; the same key is tried again.',
    effectCount: 1,
    guard: 'read_back',
    expected: { result: 'completed', effect: 'completed', answered: 'refused_before,applied', sends: 2, attempts: 2 },
    play: (stage) => approvedWith(stage, (owner) => (owner.fault = 'unavailable_before')),
  },
  {
    id: 'owner-unavailable-after-send',
    title: 'The owner applies and answers 503.',
    effectCount: 1,
    guard: 'read_back',
    expected: { result: 'completed', effect: 'completed', answered: 'unknown', sends: 1, attempts: 1 },
    play: (stage) => approvedWith(stage, (owner) => (owner.fault = 'unavailable_after')),
  },
  {
    id: 'readback-hidden',
    title: 'The reply is lost and the owner shows nothing: it stays unknown, and a person is called.',
    effectCount: 1,
    guard: 'EFFECT_UNKNOWN',
    expected: { needsHuman: true, effect: 'unknown', reconciled: 'unknown', sends: 1, attempts: 1 },
    play: playHidden,
  },
];

async function approvedWith(stage: Stage, fail: (owner: EffectOwner) => void): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  fail(stage.owner);
  await approve(world, row);
  const view = await settled(world, row.runId);
  const events = await eventsOf(world, row.runId);
  const { result } = view;
  return {
    guard: guardOf(events, view),
    facts: { result: result ?? 'none', ...effectFacts(view), answered: answers(events), sends: stage.sendCount },
  };
}

async function playHidden(stage: Stage): Promise<Told> {
  await using world = stage.open();
  const row = await askForNotice(world, 'C-102');
  stage.owner.fault = 'drop_reply';
  stage.owner.hideReadBack = true;
  await approve(world, row);
  const view = await settled(world, row.runId);
  return {
    guard: guardOf(await eventsOf(world, row.runId), view),
    facts: {
      needsHuman: view.needsHuman,
      ...effectFacts(view),
      reconciled: await reconciled(world, view),
      sends: stage.sendCount,
    },
  };
}

/** What asking the owner again leaves behind. */
async function reconciled({ desk }: EffectWorld, view: RunView): Promise<string> {
  const [effect] = view.effects;
  if (effect?.state !== 'unknown') return effect?.state ?? 'none';
  const request = { effectId: effect.effectId, finding: undefined, reason: null };
  return (await desk.reconcile(APPROVER, request, AbortSignal.timeout(5_000))).state;
}

/** The one effect of a run: its state and its attempts. */
export function effectFacts({ effects }: RunView): Facts {
  const [effect] = effects;
  return { effect: effect?.state ?? 'none', attempts: effect?.attempt ?? 0 };
}

/** What the owner answered to each attempt, as noted in the log. */
function answers(events: readonly RunEvent[]): string {
  return events.flatMap((event) => (event.kind === 'effect.sent' ? [event.body.outcome] : [])).join(',');
}

/** What settled the effect: the read-back, or what the run waits for when nobody knows. */
function guardOf(events: readonly RunEvent[], { steps, blocked }: RunView): string {
  if (events.some(({ kind }) => kind === 'effect.confirmed')) return 'read_back';
  const codes = steps.flatMap(({ errors }) => errors.map(({ code }) => code));
  return codes[0] ?? blocked?.code ?? 'none';
}
