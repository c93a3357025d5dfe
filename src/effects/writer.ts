/**
 * The one writer: the only code that touches effect targets. Look-up first, live re-read, a lease from the approval checked by the guard,
 * one transaction for consumption, intent and frozen bytes, then the effect with its key and precondition, then read-back. What was begun
 * is never begun blindly again. INV-04, INV-12, INV-13. Source: DESIGN §3.10, LEASE "Checking".
 */
import type { RunRef, Todo } from '#contracts/command.ts';
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
import { type WriterOptions, type WriterParts, writerParts } from './writer-options.ts';

export function createEffectWriter(options: WriterOptions): EffectWriter {
  const parts = writerParts(options);
  /** By run and step: a repeated call joins the one under way, so that nobody reads back what is just being sent. */
  const underWay = new Map<string, Promise<void>>();
  return {
    offers: options.targets.map(({ action, resourceType, name }) => ({ action, resourceType, target: name })),
    prepare: (request, signal) => prepareAction(parts, request, signal),
    replay: (ref, at, signal) => replayFirst(parts, { ref, ...at }, signal),
    apply: (ref, todo, signal) => {
      const key = `${ref.tenant} ${ref.runId} ${todo.stepId}`;
      const applying = underWay.get(key) ?? applyOne(parts, { ref, todo }, signal).finally(() => underWay.delete(key));
      underWay.set(key, applying);
      return applying;
    },
    reconcile: (ref, effectId, signal) => reconcileEffect(parts, { ref, effectId }, signal),
    compensate: (ref, undo, signal) => compensateEffect(parts, { ref, ...undo }, signal),
  };
}

async function applyOne(
  parts: WriterParts,
  of: { readonly ref: RunRef; readonly todo: Extract<Todo, { kind: 'applyEffect' }> },
  signal: AbortSignal,
): Promise<void> {
  const { ref, todo } = of;
  const state = await runOf(parts, ref);
  const step = state.steps.get(todo.stepId);
  if (step === undefined) throw new CaseOpsError('ERR_NOT_FOUND', `Run ${ref.runId} has no step ${todo.stepId}.`, AT);
  const effect = openEffect(state, step);
  // Begun before, here or by a process that died: whatever it did is found out, it is not done again.
  if (effect?.state === 'in_progress') return findOutcome(parts, { ref, effect, step }, signal);
  if (effect?.state === 'not_started')
    return retryEffect(parts, { ref, state, step, effect, attempt: todo.attempt }, signal);
  const approval = state.approvals.get(todo.approvalId);
  if (approval?.state === 'approved') await beginEffect(parts, { ref, state, step, approval }, signal);
}

const AT = { at: 'writer' } as const;
