/**
 * A model inside a worker that proposes what a script says, with faults: for tests, drills and replays. It is untrusted like any other.
 * Source: CONTRACTS "Scripted".
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { Clock } from '#ports/clock.ts';
import type { ModelBounds, ToolProposalRequest, ToolProposalText, ToolProposer } from '#ports/model.ts';

export type ProposerTurn = {
  /** Claims to have used so many tokens. Default 10. */
  readonly modelTokenCount?: number;
} & (
  | { readonly kind: 'call'; readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
  /** Fields of the artifact's data, lawful where each is an `ObservedValue` or a list of them; made out of what was observed. */
  | {
      readonly kind: 'finish';
      readonly data: (request: ToolProposalRequest) => Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'nothing' }
  /** Any text: invalid JSON, another shape, two proposals at once. */
  | { readonly kind: 'text'; readonly text: string }
  /** Nothing for so long; the caller's limit decides. */
  | { readonly kind: 'timeout'; readonly ms: number }
  /** The provider answers with this HTTP status. */
  | { readonly kind: 'http'; readonly status: number }
);

export interface ScriptedProposer extends ToolProposer {
  /** What it was asked with, in order. */
  readonly requests: readonly ToolProposalRequest[];
}

/**
 * Takes the turns in order, one per proposal; after the last it repeats the last, without end. Throws ERR_MODEL for `http`, and the
 * signal's reason when it is aborted during `timeout`.
 */
export function createScriptedProposer(
  turns: readonly [ProposerTurn, ...ProposerTurn[]],
  options: { readonly clock: Clock },
): ScriptedProposer {
  const requests: ToolProposalRequest[] = [];
  return {
    requests,
    propose: async (request, bounds) => {
      const turn = turns[Math.min(requests.length, turns.length - 1)] ?? turns[0];
      requests.push(request);
      const text = await textOf(turn, { request, bounds, clock: options.clock });
      return {
        text,
        modelVersion: 'scripted-1',
        modelTokenCount: turn.modelTokenCount ?? 10,
      } satisfies ToolProposalText;
    },
  };
}

async function textOf(
  turn: ProposerTurn,
  call: { readonly request: ToolProposalRequest; readonly bounds: ModelBounds; readonly clock: Clock },
): Promise<string> {
  switch (turn.kind) {
    case 'call':
      return JSON.stringify({ call: { tool: turn.tool, arguments: turn.arguments } });
    case 'finish':
      return JSON.stringify({ finish: { data: turn.data(call.request) } });
    case 'nothing':
      return JSON.stringify({ finish: { nothing: true } });
    case 'text':
      return turn.text;
    case 'timeout':
      await call.clock.sleep(turn.ms, call.bounds.signal);
      return '';
    case 'http':
      throw new CaseOpsError('ERR_MODEL', `The model provider answered ${turn.status}.`, {
        at: 'model',
        retryable: turn.status >= 500,
        detail: { status: turn.status },
      });
    default:
      return turn satisfies never;
  }
}
