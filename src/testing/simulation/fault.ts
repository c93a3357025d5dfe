/**
 * What goes wrong in a simulated world, as data: drawn from the seed before the world begins, so that a failing schedule can be cut down
 * and played again. Each fault names a place and the how-manieth thing there it befalls.
 */
import type { ApplyFault } from '../memory-effect-target.ts';
import type { Dice } from './dice.ts';

/** `supervisor`, its rival on the same store, or a team by its name. */
export type Role = string;
export const SUPERVISOR_ROLE = 'supervisor';
export const RIVAL_ROLE = 'rival';

export type Fault =
  /** The process dies at its nth write: before it reaches the store, or after it is durable. It starts anew `downMs` later. */
  | {
      readonly kind: 'crash';
      readonly who: Role;
      readonly nth: number;
      readonly when: 'before' | 'after';
      readonly downMs: number;
    }
  /** The process dies at a time, wherever it is. */
  | { readonly kind: 'kill'; readonly who: Role; readonly atMs: number; readonly downMs: number }
  /** All processes die at once. */
  | { readonly kind: 'blackout'; readonly atMs: number; readonly downMs: number }
  /** The nth write is refused by the disk, or is durable and its answer is lost. */
  | { readonly kind: 'store'; readonly who: Role; readonly nth: number; readonly how: 'fails' | 'answer_lost' }
  /** The nth message over a link, requests and answers counted alike. */
  | {
      readonly kind: 'message';
      readonly link: string;
      readonly nth: number;
      readonly how: 'drop' | 'delay' | 'duplicate';
      readonly ms: number;
    }
  /** Nothing passes a link for so long. */
  | { readonly kind: 'partition'; readonly link: string; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'tool'; readonly team: string; readonly nth: number; readonly how: ToolFault }
  /** The nth apply at the owner of an effect. */
  | { readonly kind: 'owner'; readonly nth: number; readonly how: ApplyFault }
  /** The owner shows nothing when it is asked so often. */
  | { readonly kind: 'hidden'; readonly atMs: number; readonly count: number }
  /** Somebody else changes what the effects are about. */
  | { readonly kind: 'move'; readonly atMs: number; readonly pick: number }
  /** The nth report about a step reaches the run again later, as it was or with another content. */
  | { readonly kind: 'again'; readonly nth: number; readonly afterMs: number; readonly how: 'same' | 'changed' }
  /** A second supervisor starts on the same store. */
  | { readonly kind: 'rival'; readonly atMs: number }
  /** The machine's clock jumps forward. */
  | { readonly kind: 'jump'; readonly atMs: number; readonly ms: number };

export type ToolFault = 'failed' | 'malformed' | 'throttled' | 'refused' | 'foreign';

/** Where faults can be placed in a world. */
export interface Places {
  readonly teams: readonly string[];
}

const HORIZON_MS = 6_000;
const FAULT_COUNT_MAX = 7;
const APPLY_FAULTS: readonly [ApplyFault, ...ApplyFault[]] = [
  'lost_reply',
  'lost_request',
  'unavailable_before',
  'unavailable_after',
  'refused',
  'version_moved',
  'hang',
];
const KINDS = [
  'crash',
  'crash',
  'crash',
  'kill',
  'blackout',
  'blackout',
  'store',
  'store',
  'message',
  'message',
  'message',
  'partition',
  'tool',
  'owner',
  'owner',
  'hidden',
  'move',
  'again',
  'again',
  'rival',
  'jump',
] as const;

/** A quarter of all worlds have one fault or none, the others several. */
export function drawFaults(dice: Dice, places: Places): readonly Fault[] {
  const count = dice.chance(0.25) ? dice.below(2) : dice.between(1, FAULT_COUNT_MAX);
  return Array.from({ length: count }, () => draw(dice, places));
}

function draw(dice: Dice, places: Places): Fault {
  const kind = dice.one(KINDS);
  const team = dice.one(named(places.teams));
  const atMs = dice.below(HORIZON_MS);
  const soon = dice.one([dice.below(150), dice.below(4_000)]);
  const who = dice.one([SUPERVISOR_ROLE, SUPERVISOR_ROLE, RIVAL_ROLE, team]);
  const downMs = dice.one([50, 400, 2_500, 7_000]);
  const nth = dice.one([dice.between(1, 12), dice.between(1, 50)]);
  const link = dice.one([`a2a:${team}`, `a2a:${team}`, `mcp:${team}`, `issuer:${team}`, 'owner']);
  switch (kind) {
    case 'crash':
      return { kind, who, nth, when: dice.one(['before', 'after']), downMs };
    case 'kill':
      return { kind, who, atMs: soon, downMs };
    case 'blackout':
      return { kind, atMs: dice.one([dice.below(60), soon]), downMs: dice.one([50, 400, downMs]) };
    case 'store':
      return { kind, who, nth, how: dice.one(['fails', 'answer_lost']) };
    case 'message':
      return {
        kind,
        link,
        nth: dice.between(1, 12),
        how: dice.one(['drop', 'delay', 'duplicate']),
        ms: dice.one([30, 900, 3_000]),
      };
    case 'partition':
      return { kind, link, atMs: dice.below(3_000), forMs: dice.one([200, 2_000, 4_000]) };
    case 'tool':
      return {
        kind,
        team,
        nth: dice.between(1, 4),
        how: dice.one(['failed', 'malformed', 'throttled', 'refused', 'foreign']),
      };
    case 'owner':
      return { kind, nth: dice.one([1, 1, 2]), how: dice.one(APPLY_FAULTS) };
    case 'hidden':
      return { kind, atMs: dice.below(6_000), count: dice.between(1, 8) };
    case 'move':
      return { kind, atMs, pick: dice.below(4) };
    case 'again':
      return {
        kind,
        nth: dice.between(1, 12),
        afterMs: dice.one([1, 200, 1_500, 6_000]),
        how: dice.one(['same', 'same', 'changed']),
      };
    case 'rival':
      return { kind, atMs: dice.below(5_000) };
    case 'jump':
      return { kind, atMs: dice.below(8_000), ms: dice.one([900, 30_000, 3_600_000]) };
  }
}

function named(teams: readonly string[]): readonly [string, ...string[]] {
  const [first = 'none', ...rest] = teams;
  return [first, ...rest];
}
