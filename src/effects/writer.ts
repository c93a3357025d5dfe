/**
 * The one writer: the only code that touches effect targets. Look-up first, live re-read, a lease from the approval checked by the guard,
 * one transaction for consumption, intent and frozen bytes, then the effect with its key and precondition, then read-back. What was begun
 * is never begun blindly again. INV-04, INV-12, INV-13. Source: DESIGN §3.10, LEASE "Checking".
 */
import { CaseOpsError } from '#contracts/error.ts';
import { openEffect } from '#kernel/effect-state.ts';
import type { EffectWriter } from '#ports/effect-writer.ts';
import { beginEffect, retryEffect } from './begin-effect.ts';
import { compensateEffect } from './compensate-effect.ts';
import { prepareAction } from './prepare-action.ts';
import { reconcileEffect } from './reconcile.ts';
import { replayFirst } from './replay-first.ts';
import { runOf } from './run-of.ts';
import { findOutcome } from './settle-outcome.ts';
import { writerParts, type WriterOptions } from './writer-options.ts';

export function createEffectWriter(options: WriterOptions): EffectWriter {
  const parts = writerParts(options);
  return {
    offers: options.targets.map(({ action, resourceType, name }) => ({ action, resourceType, target: name })),
    prepare: (request, signal) => prepareAction(parts, request, signal),
    replay: (ref, at, signal) => replayFirst(parts, { ref, ...at }, signal),
    async apply(ref, { stepId, approvalId, attempt }, signal) {
      const state = await runOf(parts, ref);
      const step = state.steps.get(stepId);
      if (step === undefined) throw new CaseOpsError('ERR_NOT_FOUND', `Run ${ref.runId} has no step ${stepId}.`, AT);
      const effect = openEffect(state, step);
      // Begun before, here or by a process that died: whatever it did is found out, it is not done again.
      if (effect?.state === 'in_progress') return findOutcome(parts, { ref, effect, step }, signal);
      if (effect?.state === 'not_started') return retryEffect(parts, { ref, state, step, effect, attempt }, signal);
      const approval = state.approvals.get(approvalId);
      if (approval?.state === 'approved') await beginEffect(parts, { ref, state, step, approval }, signal);
    },
    reconcile: (ref, effectId, signal) => reconcileEffect(parts, { ref, effectId }, signal),
    compensate: (ref, undo, signal) => compensateEffect(parts, { ref, ...undo }, signal),
  };
}

const AT = { at: 'writer' } as const;
