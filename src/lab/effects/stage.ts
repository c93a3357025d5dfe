/**
 * Where one drill plays: a directory with a database, a real HTTP owner on loopback, and worlds that are opened and stopped one after the
 * other. At its end the owner's own count is held against the approvals. Source: LAB "Drills".
 */
import type { ApprovalRow } from '#contracts/approval.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ApprovalPolicy } from '#ports/approval-policy.ts';
import type { EffectTarget } from '#ports/effect-target.ts';
import type { EffectWorld } from '#runtime/effect-world.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { serveEffectOwner, type EffectOwner } from '#testing/effect-owner.ts';
import { noticeService } from '#testing/notice-service.ts';
import type { Finding } from '#testing/scripted-team.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { draftOf, APPROVER } from './notice-teams.ts';
import { openNoticeWorld } from './open-world.ts';
import { SEEDED_BREAKS, type SeededBreak, type SeededBreakName } from './seeded-breaks.ts';

export interface WorldSetting {
  /** Approvals are taken, and nothing is begun: the writer is refused its look-up. */
  readonly held?: boolean;
  readonly policy?: { readonly revision?: number; readonly expiresInMs?: number };
  /** One key for all notices instead of one per run and step. */
  readonly keyOf?: (resource: string) => string;
  readonly tamper?: (finding: Finding) => Finding;
}

export interface Stage extends AsyncDisposable {
  readonly owner: EffectOwner;
  readonly path: string;
  readonly breakName: SeededBreakName | undefined;
  /** Requests to apply that reached the owner's door from this process. */
  readonly sendCount: number;
  /** Failures that no caller was told of. */
  readonly errors: readonly ErrorRecord[];
  /** Opens a world on the database; whoever opens it disposes it before the next. */
  open(setting?: WorldSetting): EffectWorld;
}

/** Effects at the owner that nobody may have caused, and second ones. */
export interface Audit {
  readonly effectCount: number;
  readonly duplicateCount: number;
  readonly unapprovedCount: number;
}

const APPROVAL_COUNT_MAX = 100;
/** Claims whose drafts exist at the owner. */
export const CLAIMS = ['C-102', 'C-103'] as const;

export async function openStage(breakName?: SeededBreakName): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'caseops-drill-'));
  const owner = await serveEffectOwner(() => systemClock.now());
  for (const claim of CLAIMS) owner.put('t9', draftOf(claim), { draft_id: draftOf(claim), channel: 'none' });
  const sent = { count: 0 };
  const errors: ErrorRecord[] = [];
  const path = join(directory, 'caseops.db');
  return {
    owner,
    path,
    breakName,
    errors,
    get sendCount() {
      return sent.count;
    },
    open: (setting = {}) =>
      openStageWorld({
        path,
        origin: owner.origin,
        breakName,
        setting,
        onSend: () => (sent.count += 1),
        onError: (error) => errors.push(error),
      }),
    async [Symbol.asyncDispose]() {
      await owner[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface StageWorld {
  readonly path: string;
  readonly origin: string;
  readonly breakName: SeededBreakName | undefined;
  readonly setting: WorldSetting;
  readonly onSend?: () => void;
  readonly onError?: (error: ErrorRecord) => void;
  /** Nearest to the owner. */
  readonly wrapTarget?: (target: EffectTarget) => EffectTarget;
}

/** The world of a stage, also in a child process. */
export function openStageWorld(options: StageWorld): EffectWorld {
  const { setting, onError } = options;
  const broken: SeededBreak = options.breakName === undefined ? {} : SEEDED_BREAKS[options.breakName];
  const target = targetOf(options, broken);
  const policy = policyOf(setting.policy);
  const world = openNoticeWorld({
    path: options.path,
    clock: systemClock,
    ids: systemIds,
    target,
    policy: broken.policy?.(policy) ?? policy,
    ...(broken.store === undefined ? {} : { wrapStore: broken.store }),
    ...(setting.held === true ? { onPoint: refuseLookUp } : {}),
    ...(setting.tamper === undefined ? {} : { tamper: setting.tamper }),
    ...(onError === undefined ? {} : { onError }),
  });
  return broken.world?.(world, target) ?? world;
}

function targetOf({ origin, setting, onSend, wrapTarget }: StageWorld, broken: SeededBreak): EffectTarget {
  const service = noticeService(origin, systemClock);
  const wrapped = wrapTarget?.(service) ?? service;
  const counted: EffectTarget = {
    ...wrapped,
    apply: (request, signal) => {
      onSend?.();
      return wrapped.apply(request, signal);
    },
  };
  const { keyOf } = setting;
  const keyed = keyOf === undefined ? counted : { ...counted, idempotencyKey: keyedBy(keyOf) };
  return broken.target?.(keyed) ?? keyed;
}

const keyedBy =
  (keyOf: (resource: string) => string) =>
  ({ resource }: { readonly resource: string }): string =>
    keyOf(resource);

/** By revision: another revision is another policy. */
export function policyOf({ revision = 1, expiresInMs = 3_600_000 }: WorldSetting['policy'] = {}): ApprovalPolicy {
  return {
    name: 'drill',
    digest: digestOf({ name: 'drill', revision }),
    reviewerRole: () => 'approver',
    terms: () => ({ role: 'approver', quorumCount: 1, expiresInMs, approves: undefined }),
  };
}

function refuseLookUp(): never {
  throw new CaseOpsError('ERR_EFFECT_TARGET', 'The writer is held before its look-up.', { at: 'lab', retryable: true });
}

/** Compares what the owner counted with what was approved by somebody else than who asked. */
export async function auditStage(stage: Stage): Promise<Audit> {
  await using world = stage.open({ held: true });
  const { store } = world;
  const rows = await store.approvalList({ tenant: APPROVER.tenant, limit: APPROVAL_COUNT_MAX });
  const keys = new Set(rows.filter(isApproved).map(({ proposal }) => proposal.action.idempotencyKey));
  const counts = [...keys].map((key) => stage.owner.appliedCount(key));
  const approvedCount = counts.reduce((sum, count) => sum + count, 0);
  return {
    effectCount: stage.owner.appliedTotal,
    duplicateCount: counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
    unapprovedCount: stage.owner.appliedTotal - approvedCount,
  };
}

function isApproved({ decisions, proposal }: ApprovalRow): boolean {
  return decisions.some(({ by, disposition, actionDigest }) => {
    const agrees = disposition !== 'rejected' && actionDigest === proposal.actionDigest;
    return agrees && by !== proposal.action.requestedBy;
  });
}
