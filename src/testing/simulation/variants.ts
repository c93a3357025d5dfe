/**
 * One seeded mistake per invariant, put around a part from outside: a simulation with one of them must notice. Shipped code knows nothing
 * of them. Source: DESIGN §4 "Invariants".
 */
import type { Command } from '#contracts/command.ts';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import type { RunKernel } from '#drivers/local/run-kernel.ts';
import type { RunState, StepState } from '#kernel/run-state.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { HeldLease } from '#ports/issuer.ts';
import { createMemoryTarget } from '../memory-effect-target.ts';
import type { Variant } from './world.ts';

export interface BrokenVariant {
  /** The invariant that it breaks. */
  readonly breaks: string;
  readonly mistake: string;
  readonly variant: Variant;
  /** Caught within so many seeds from 1 on. */
  readonly seedCountMax: number;
}

export const BROKEN_VARIANTS: readonly BrokenVariant[] = [
  {
    breaks: 'INV-01',
    mistake: 'a step that found nothing is settled as completed',
    seedCountMax: 40,
    variant: altered((draft) =>
      draft.kind === 'step.settled' && draft.body.result.status === 'no_data'
        ? [{ ...draft, body: { ...draft.body, result: { ...draft.body.result, status: 'completed' } } }]
        : [draft],
    ),
  },
  {
    breaks: 'INV-02',
    mistake: 'a step is handed out together with the one it waits for',
    seedCountMax: 10,
    variant: altered((draft, state) => {
      const dependent = draft.kind === 'step.dispatched' ? pendingDependent(state, draft.body.stepId) : undefined;
      if (draft.kind !== 'step.dispatched' || dependent === undefined) return [draft];
      const { dispatchId, ...body } = draft.body;
      const early: typeof draft = {
        kind: 'step.dispatched',
        body: { ...body, stepId: dependent.definition.stepId, dispatchId: `${dispatchId}-early` },
      };
      return [draft, early];
    }),
  },
  {
    breaks: 'INV-03',
    mistake: 'the answer forgets the evidence of its first sentence',
    seedCountMax: 10,
    variant: altered((draft) => {
      if (draft.kind !== 'answer.composed') return [draft];
      const { answer } = draft.body;
      const claims = answer.claims.map((claim, index) => (index === 0 ? { ...claim, evidenceIds: [] } : claim));
      return [{ kind: 'answer.composed', body: { answer: { ...answer, claims } } }];
    }),
  },
  {
    breaks: 'INV-04',
    mistake: 'the writer asks the owner before it has recorded that it will',
    seedCountMax: 20,
    variant: {
      writer: (writer, targets, store) => ({
        ...writer,
        apply: async (ref, todo, signal) => {
          const row = await store.approval(ref.tenant, todo.approvalId);
          const action = row?.proposal.action;
          if (action !== undefined && todo.attempt === 1)
            await targets[0]
              ?.apply(
                {
                  action,
                  bytes: new TextEncoder().encode(canonicalText(action) ?? ''),
                  idempotencyKey: action.idempotencyKey,
                  expectedVersion: action.expectedVersion,
                },
                signal,
              )
              .catch(() => undefined);
          return writer.apply(ref, todo, signal);
        },
      }),
    },
  },
  {
    breaks: 'INV-05',
    mistake: 'the same result again is settled again',
    seedCountMax: 150,
    variant: altered((draft, state) => (draft.kind === 'result.duplicate' ? resettled(draft, state) : [draft])),
  },
  {
    breaks: 'INV-06',
    mistake: 'what a step has used is not counted',
    seedCountMax: 600,
    variant: evolved((state, event) => {
      if (event.kind !== 'budget.settled' || state.budget === undefined) return;
      state.budget.toolCallCountUsed -= event.body.used.toolCallCount;
    }),
  },
  {
    breaks: 'INV-07',
    mistake: 'a cancellation is forgotten as soon as it is recorded',
    seedCountMax: 100,
    variant: evolved((state, event) => {
      if (event.kind !== 'cancel.requested' || state.phase !== 'cancelling') return;
      state.cancelRequested = undefined;
      state.phase = 'running';
    }),
  },
  {
    breaks: 'INV-08',
    mistake: 'a result that comes after the end is settled all the same',
    seedCountMax: 200,
    variant: altered((draft, state) =>
      draft.kind === 'result.late' || (draft.kind === 'result.duplicate' && state?.phase === 'ended')
        ? resettled(draft, state)
        : [draft],
    ),
  },
  {
    breaks: 'INV-09',
    mistake: 'a step result is written in the name of somebody else',
    seedCountMax: 10,
    variant: altered((draft) =>
      draft.kind === 'step.settled'
        ? [{ ...draft, body: { ...draft.body, result: { ...draft.body.result, producer: 'spiffe://elsewhere/team' } } }]
        : [draft],
    ),
  },
  { breaks: 'INV-10', mistake: 'an exchanged lease names one resource more', seedCountMax: 10, variant: widened() },
  {
    breaks: 'INV-11',
    mistake: 'the store keeps another text of an event than was sealed',
    seedCountMax: 20,
    variant: {
      store: (store) => ({
        ...store,
        commit: (commit) =>
          store.commit({
            ...commit,
            events: commit.events.map((event) =>
              event.kind === 'run.ended' ? { ...event, body: { ...event.body, reason: 'said otherwise' } } : event,
            ),
          }),
      }),
    },
  },
  {
    breaks: 'INV-12',
    mistake: 'the client of an owner without keys sends again when the answer is lost',
    seedCountMax: 400,
    variant: {
      owners: (clock) => [createMemoryTarget({ clock, dedupes: false })],
      target: (target) => ({
        ...target,
        apply: async (request, signal) => {
          const said = await target.apply(request, signal).catch(() => undefined);
          if (said !== undefined && said.outcome !== 'unknown') return said;
          const { version } = await target.read(request.action.resource, request.action.tenant, signal);
          return target.apply({ ...request, expectedVersion: version }, signal);
        },
      }),
    },
  },
  {
    breaks: 'INV-13',
    mistake: 'an approval is spent twice in one transaction',
    seedCountMax: 20,
    variant: altered((draft) => (draft.kind === 'approval.spent' ? [draft, draft] : [draft])),
  },
  {
    breaks: 'INV-14',
    mistake: 'a tool server looks a record up for another tenant and labels it as the caller’s',
    seedCountMax: 10,
    variant: {
      toolServer: (server) => ({
        ...server,
        tools: server.tools.map((tool) => ({
          ...tool,
          invoke: async (args, caller) => {
            const found = await tool.invoke(args, { ...caller, tenant: caller.tenant === 't9' ? 't8' : 't9' });
            return found.map((record) => ({ ...record, tenant: caller.tenant }));
          },
        })),
      }),
    },
  },
  {
    breaks: 'INV-15',
    mistake: 'a recovered team goes on under the lease that its predecessor got',
    seedCountMax: 800,
    variant: {
      exchange: (exchange, kept) => ({
        exchange: async (request, signal) => {
          const key = `${request.taskId} ${request.audience}`;
          const known = kept.get(key) as HeldLease | undefined;
          if (known !== undefined) return known;
          const lease = await exchange.exchange(request, signal);
          kept.set(key, lease);
          return lease;
        },
      }),
    },
  },
];

/** The kernel decides as it does, and then something else is written. */
function altered(
  change: (draft: EventDraft, state: RunState | undefined, command: Command) => readonly EventDraft[],
): Variant {
  return {
    kernel: (kernel: RunKernel): RunKernel => ({
      ...kernel,
      decide: (state, command, ref) => {
        const decision = kernel.decide(state, command, ref);
        if (!decision.ok) return decision;
        return { ok: true, events: decision.events.flatMap((draft) => change(draft, state, command)) };
      },
    }),
  };
}

/** The kernel folds an event as it does, and then forgets or keeps something. */
function evolved(change: (state: RunState, event: RunEvent) => void): Variant {
  return {
    kernel: (kernel: RunKernel): RunKernel => ({
      ...kernel,
      evolve: (state, event) => {
        const after = kernel.evolve(state, event);
        if (after !== undefined) change(after, event);
        return after;
      },
    }),
  };
}

function pendingDependent(state: RunState | undefined, stepId: string): StepState | undefined {
  return state?.steps.get(stepId)?.dependents.find(({ step }) => step.phase === 'pending')?.step;
}

/** The step's own result once more. */
function resettled(
  draft: Extract<EventDraft, { readonly kind: 'result.duplicate' | 'result.late' }>,
  state: RunState | undefined,
): readonly EventDraft[] {
  const { stepId, dispatchId } = draft.body;
  const result = state?.steps.get(stepId)?.result;
  return result === undefined ? [draft] : [{ kind: 'step.settled', body: { result, dispatchId, toolCalls: [] } }];
}

function widened(): Variant {
  return {
    issuerSigner: (signer) => ({
      ...signer,
      sign: (header, payload) => {
        const { dlg, authorization_details: details } = payload as {
          readonly dlg?: { readonly depth: number };
          readonly authorization_details?: readonly { readonly resources: readonly string[] }[];
        };
        if (dlg?.depth !== 1 || details === undefined) return signer.sign(header, payload);
        const wider = details.map((detail) => ({ ...detail, resources: [...detail.resources, 'claim:C-999'] }));
        return signer.sign(header, { ...payload, authorization_details: wider });
      },
    }),
  };
}
