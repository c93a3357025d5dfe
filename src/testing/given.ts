/** Given events, when a command, then events: the kernel as a specification. Nothing is mocked, nothing runs. */
import type { Command, RunRef } from '#contracts/command.ts';
import type { ErrorCode, ErrorRecord } from '#contracts/error.ts';
import type { EventDraft, RunEvent } from '#contracts/event.ts';
import { sealEvent, type ChainHead } from '#kernel/chain.ts';
import { decide } from '#kernel/decide.ts';
import { foldRun } from '#kernel/evolve.ts';
import assert from 'node:assert/strict';

/** An event in the past of a run; time and actor have defaults. */
export type GivenEvent = EventDraft & { readonly at?: string; readonly actor?: string };

export interface Given {
  /** Decides the command in the state that the events give. */
  when(command: Command): Decided;
}

export interface Decided {
  /** What was decided, for a look of one's own. */
  readonly outcome:
    | { readonly ok: true; readonly events: readonly EventDraft[] }
    | { readonly ok: false; readonly error: ErrorRecord };
  /** Fails unless exactly these events were decided, bodies included. */
  then(expected: readonly EventDraft[]): void;
  /** Fails unless events of exactly these kinds were decided, in this order. */
  thenKinds(...kinds: readonly EventDraft['kind'][]): void;
  /** Fails unless the command was refused with this code; of ERR_INVARIANT also by the named invariant. */
  thenRefused(code: ErrorCode, invariant?: string): void;
}

const REF: RunRef = { tenant: 't9', runId: 'run_given' };
const BY = { at: '2026-08-01T09:00:00.000Z', actor: 'given' };

/** A run with this past, oldest first; none for a run that does not exist yet. */
export function given(events: readonly GivenEvent[] = [], ref: RunRef = REF): Given {
  return { when: (command) => decided(decide(foldRun(sealed(events, ref)), command, ref), command) };
}

/** The events that these commands lead to, one after the other, for a past. Throws when one of them is refused. */
export function eventsOf(commands: readonly Command[], ref: RunRef = REF): readonly GivenEvent[] {
  return commands.reduce<readonly GivenEvent[]>((past, command) => {
    const outcome = decide(foldRun(sealed(past, ref)), command, ref);
    if (!outcome.ok) assert.fail(`${command.kind} was refused: ${outcome.error.code} ${outcome.error.message}`);
    const { at, actor } = command;
    return [...past, ...outcome.events.map((event) => ({ ...event, at, actor }))];
  }, []);
}

function sealed(events: readonly GivenEvent[], ref: RunRef): readonly RunEvent[] {
  let head: ChainHead = { ref, seq: 0, hash: '' };
  return events.map(({ at = BY.at, actor = BY.actor, ...draft }) => {
    const event = sealEvent(head, draft, { at, actor });
    head = { ref, seq: event.seq, hash: event.hash };
    return event;
  });
}

function decided(outcome: Decided['outcome'], { kind }: Command): Decided {
  const events = (): readonly EventDraft[] => {
    if (!outcome.ok) assert.fail(`${kind} was refused: ${outcome.error.code} ${outcome.error.message}`);
    return outcome.events;
  };
  return {
    outcome,
    // oxlint-disable-next-line unicorn/no-thenable
    then: (expected) => assert.deepEqual(events(), expected),
    thenKinds: (...kinds) =>
      assert.deepEqual(
        events().map((event) => event.kind),
        kinds,
      ),
    thenRefused: (code, invariant) => {
      if (outcome.ok)
        assert.fail(`${kind} was not refused, it gave ${outcome.events.map((event) => event.kind).join(', ')}`);
      assert.equal(outcome.error.code, code, outcome.error.message);
      if (invariant !== undefined) assert.equal(outcome.error.detail?.['invariant'], invariant, outcome.error.message);
    },
  };
}
