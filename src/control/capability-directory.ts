/**
 * What the teams can do, as control knows it: cards read and verified through the team transport, kept briefly, frozen into a snapshot for
 * one plan, and compared again before a dispatch. Source: DESIGN §3.2.
 */
import type { CapabilityCard, CapabilitySnapshot } from '#contracts/capability-snapshot.ts';
import { CaseOpsError, toErrorRecord, type ErrorRecord } from '#contracts/error.ts';
import type { Digest } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { timestampOf } from '#kernel/time.ts';
import type { SkillContract } from '#contracts/skill.ts';
import type { Clock } from '#ports/clock.ts';
import type { EffectOffer } from '#ports/effect-writer.ts';
import type { Ids } from '#ports/ids.ts';
import type { TeamAnnouncement, TeamTransport } from '#ports/team-transport.ts';

const SNAPSHOT_LIFETIME_MS = 5 * 60_000;
/** How long a read card is believed without asking again. */
const CARD_KEPT_MS = 30_000;
/** How long a team may take to show its card. */
const DISCOVERY_TIMEOUT_MS = 1_500;

export interface CapabilityDirectoryOptions {
  readonly teams: ReadonlyMap<string, TeamTransport>;
  /**
   * What an operator registered of a team: it may be planned for while it does not answer, and then its step fails by name instead of the
   * plan being impossible.
   */
  readonly registered?: ReadonlyMap<string, TeamAnnouncement>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** What the supervisor's workload may ask of teams at all. */
  readonly workloadActions: readonly string[];
  /** Of the central policy. */
  readonly policyDigest: Digest;
  /** What this deployment can apply: an effect skill is available exactly when all its effect actions are offered. */
  readonly effectOffers?: readonly EffectOffer[];
  readonly cardKeptMs?: number;
  readonly discoveryTimeoutMs?: number;
}

type Found =
  | { readonly ok: true; readonly announcement: TeamAnnouncement }
  | { readonly ok: false; readonly error: ErrorRecord };

export interface CapabilityDirectory {
  /** The team as it announces itself now, or at most 30 s ago. Never throws. */
  find(team: string, signal: AbortSignal): Promise<Found>;
  /** For one person and one plan; valid for 5 minutes. Teams that did not answer are listed with the reason. */
  snapshot(grant: RootGrant, signal: AbortSignal): Promise<CapabilitySnapshot>;
  /** Ask again next time. */
  forget(team: string): void;
  readonly teams: readonly string[];
}

export function createCapabilityDirectory(options: CapabilityDirectoryOptions): CapabilityDirectory {
  const { clock, teams } = options;
  const kept = new Map<string, { readonly announcement: TeamAnnouncement; readonly untilMs: number }>();
  const lastSeen = new Map<string, TeamAnnouncement>(options.registered);
  const find = async (team: string, signal: AbortSignal): Promise<Found> => {
    const known = kept.get(team);
    if (known !== undefined && clock.nowMs() < known.untilMs) return { ok: true, announcement: known.announcement };
    const found = await ask(options, team, signal);
    if (!found.ok) return found;
    const { announcement } = found;
    kept.set(team, { announcement, untilMs: clock.nowMs() + (options.cardKeptMs ?? CARD_KEPT_MS) });
    lastSeen.set(team, announcement);
    return found;
  };
  return {
    teams: [...teams.keys()].toSorted(),
    find,
    forget: (team) => void kept.delete(team),
    async snapshot(grant, signal) {
      const names = [...teams.keys()].toSorted();
      const answers = await Promise.all(names.map((team) => find(team, signal)));
      const announced = answers.flatMap((answer, index) => {
        const announcement = answer.ok ? answer.announcement : lastSeen.get(names[index] ?? '');
        return announcement === undefined ? [] : [announcement];
      });
      const unavailable = answers.flatMap((answer, index) =>
        answer.ok ? [] : [{ team: names[index] ?? '', reason: answer.error.message.slice(0, 500) }],
      );
      return freeze(options, grant, { announced, unavailable });
    },
  };
}

function freeze(
  options: CapabilityDirectoryOptions,
  grant: RootGrant,
  found: {
    readonly announced: readonly TeamAnnouncement[];
    readonly unavailable: CapabilitySnapshot['unavailable'];
  },
): CapabilitySnapshot {
  const nowMs = options.clock.nowMs();
  return {
    snapshotId: options.ids.next('cap'),
    tenant: grant.tenant,
    takenAt: timestampOf(nowMs),
    expiresAt: timestampOf(nowMs + SNAPSHOT_LIFETIME_MS),
    cards: found.announced.map(({ card }) => card),
    skills: found.announced.flatMap(({ skills }) => skills.map((skill) => offered(skill, options.effectOffers ?? []))),
    teamPolicyDigests: Object.fromEntries(found.announced.map(({ card, policyDigest }) => [card.team, policyDigest])),
    policy: {
      digest: options.policyDigest,
      tenants: [grant.tenant],
      purposes: [...grant.purposes],
      userActions: [...grant.actions],
      workloadActions: [...options.workloadActions],
    },
    unavailable: found.unavailable,
  };
}

/** The writer applies effects, no team does: what a team says about it does not count. */
function offered(skill: SkillContract, offers: readonly EffectOffer[]): SkillContract {
  if (skill.risk !== 'effect') return skill;
  const types = new Set(skill.resources.map(({ type }) => type));
  const available =
    skill.effectActions.length > 0 &&
    skill.effectActions.every((action) =>
      offers.some((offer) => offer.action === action && types.has(offer.resourceType)),
    );
  return { ...skill, available };
}

async function ask(options: CapabilityDirectoryOptions, team: string, signal: AbortSignal): Promise<Found> {
  const transport = options.teams.get(team);
  if (transport === undefined) return { ok: false, error: unreachable(team, 'it is not configured here') };
  const timeoutMs = options.discoveryTimeoutMs ?? DISCOVERY_TIMEOUT_MS;
  const timeout = new AbortController();
  const disarm = options.clock.at(options.clock.nowMs() + timeoutMs, () => timeout.abort(late(team, timeoutMs)));
  const either = AbortSignal.any([signal, timeout.signal]);
  try {
    const announcement = await orAborted(transport.discover(either), either);
    const foreign = foreignPart(team, announcement);
    return foreign === undefined ? { ok: true, announcement } : { ok: false, error: unreachable(team, foreign) };
  } catch (error) {
    return { ok: false, error: toErrorRecord(error, { code: 'ERR_TEAM_UNREACHABLE', at: 'discovery' }) };
  } finally {
    disarm();
  }
}

/** A team speaks for itself only. */
function foreignPart(team: string, { card, skills }: TeamAnnouncement): string | undefined {
  if (card.team !== team) return `its card names team ${card.team}`;
  const foreign = skills.find((skill) => skill.team !== team);
  return foreign === undefined ? undefined : `it announces skill ${foreign.skillId} of team ${foreign.team}`;
}

/** Rejects with the signal's reason when it is aborted first, even if the work does not listen. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Why a team as it is now is not the one that was planned with; undefined when nothing that matters has changed. */
export function cardChange(planned: CapabilityCard, now: CapabilityCard): string | undefined {
  const [before, after] = [matters(planned), matters(now)];
  const changed = Object.keys(before).filter((field) => before[field] !== after[field]);
  return changed.length === 0 ? undefined : changed.join(', ');
}

function matters({ verifiedBy, audience, workload, protocolVersion }: CapabilityCard): Record<string, unknown> {
  return { 'signing key': verifiedBy, audience, workload, 'protocol version': protocolVersion };
}

function unreachable(team: string, why: string): ErrorRecord {
  return {
    code: 'ERR_TEAM_UNREACHABLE',
    kind: 'unavailable',
    message: `Team ${team} cannot be used: ${why}.`,
    at: 'discovery',
    retryable: true,
  };
}

function late(team: string, timeoutMs: number): CaseOpsError {
  return new CaseOpsError('ERR_TEAM_UNREACHABLE', `Team ${team} did not show its card within ${timeoutMs} ms.`, {
    at: 'discovery',
  });
}
