/** The answer in a model's words, with whose the evidence is that it made up or took from elsewhere. Source: DESIGN §3.9. */
import { answer as answerSchema, type Answer } from '#contracts/answer.ts';
import type { PhrasedAnswer } from '#contracts/command.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { RunState } from '#kernel/run-state.ts';
import type { Store } from '#ports/store.ts';
import { orAborted } from './capability-directory.ts';
import type { RunContext } from './run-context.ts';

const PHRASER_TIMEOUT_MS = 5_000;
/** Runs looked through for evidence that this one does not bear, latest first, and events of each. */
const LOOKED_RUN_COUNT_MAX = 100;
const LOOKED_EVENT_COUNT_MAX = 500;

/** Undefined without a phraser, and when it gave no answer in time: the goal's own words need no model. */
export async function phrasedAnswer(
  context: Pick<RunContext, 'store' | 'clock' | 'phraser'>,
  composed: Answer,
  by: { readonly state: RunState; readonly signal: AbortSignal },
): Promise<PhrasedAnswer | undefined> {
  const { phraser, clock, store } = context;
  const { state } = by;
  if (phraser === undefined) return undefined;
  const limit = new AbortController();
  const disarm = clock.at(clock.nowMs() + PHRASER_TIMEOUT_MS, () => limit.abort());
  const signal = AbortSignal.any([by.signal, limit.signal]);
  const modelTokenCountMax = (state.budget?.modelTokenCountMax ?? 0) - (state.budget?.modelTokenCountUsed ?? 0);
  try {
    const said = answerSchema.safeParse(
      await orAborted(phraser.phrase(composed, { signal, modelTokenCountMax }), signal),
    );
    if (!said.success) return undefined;
    return { answer: said.data, foreign: await foreignEvidence(store, state, said.data) };
  } catch {
    return undefined;
  } finally {
    disarm();
  }
}

/** Of the evidence that an answer names: what another run bears, of this tenant or of another. What no recent run bears is left out. */
async function foreignEvidence(
  store: Store,
  { ref, evidence }: RunState,
  said: Answer,
): Promise<PhrasedAnswer['foreign']> {
  const own = new Set([...evidence.values()].map(({ evidenceId }) => evidenceId));
  const wanted = new Set(said.claims.flatMap(({ evidenceIds }) => evidenceIds).filter((id) => !own.has(id)));
  const found: Record<string, 'other_tenant' | 'other_task'> = {};
  if (wanted.size === 0) return found;
  for (const head of await store.runs({ level: 'central', limit: LOOKED_RUN_COUNT_MAX })) {
    if (head.ref.tenant === ref.tenant && head.ref.runId === ref.runId) continue;
    for (const event of await store.events(head.ref, 0, LOOKED_EVENT_COUNT_MAX))
      for (const evidenceId of evidenceOf(event))
        if (wanted.has(evidenceId)) found[evidenceId] = head.ref.tenant === ref.tenant ? 'other_task' : 'other_tenant';
  }
  return found;
}

function evidenceOf(event: RunEvent): readonly Answer['evidence'][number]['evidenceId'][] {
  return event.kind === 'artifact.accepted' ? event.body.evidence.map(({ evidenceId }) => evidenceId) : [];
}
