/**
 * The calls of a program that brings its own tools: permitted within the budget before the tool runs, settled once, all in the log of
 * one run. Source: docs/decisions/0010; INV-06.
 */
import type { CommandOf } from '#contracts/command.ts';
import type { GovernedOrigin } from '#contracts/call-events.ts';
import type { ErrorRecord } from '#contracts/error.ts';
import { decided, type Decision, refused } from './decision.ts';
import { failure } from './failure.ts';
import type { BudgetState, RunState } from './run-state.ts';

/** Another contract under a known name is refused (ERR_STATE): a name means one tool for the whole run. */
export function decideAdopt(state: RunState, { tool }: CommandOf<'adoptTool'>): Decision {
  const open = openForCalls(state);
  if (!open.ok) return open;
  const { tool: toolName, digest } = tool.contract;
  const known = state.tools.get(toolName);
  if (known === digest) return decided();
  if (known !== undefined)
    return refused('ERR_STATE', `Run ${state.ref.runId} knows another tool ${toolName}: ${known}, not ${digest}.`);
  return decided({ kind: 'tool.adopted', body: tool });
}

/**
 * Debits one call. Refuses what the budget does not cover (ERR_BUDGET), a prohibited action (ERR_POLICY), a tool that was not adopted
 * under this contract, and a call id seen before.
 */
export function decidePermit(state: RunState, { call }: CommandOf<'permitCall'>): Decision {
  const open = openForCalls(state);
  if (!open.ok) return open;
  const { origin, budget } = open;
  const { runId } = state.ref;
  if (state.tools.get(call.tool) !== call.contractDigest)
    return refused('ERR_STATE', `Run ${runId} adopted no tool ${call.tool} under contract ${call.contractDigest}.`);
  if (state.calls.has(call.callId)) return refused('ERR_STATE', `Call ${call.callId} of run ${runId} is under way.`);
  const prohibited = call.actions.filter((action) => origin.prohibitedActions.includes(action));
  if (prohibited.length > 0)
    return refused('ERR_POLICY', `Run ${runId} prohibits ${prohibited.join(', ')}; call ${call.callId} asks for it.`);
  if (budget.toolCallCountUsed >= budget.toolCallCountMax)
    return refused(
      'ERR_BUDGET',
      `Run ${runId} may make ${budget.toolCallCountMax} calls and has made them; call ${call.callId} is one too many.`,
      { toolCallCountMax: budget.toolCallCountMax },
    );
  return decided({ kind: 'call.permitted', body: call });
}

/** Records a call whose tool did not run. */
export function decideRefuse(state: RunState, { call }: CommandOf<'refuseCall'>): Decision {
  const open = openForCalls(state);
  return open.ok ? decided({ kind: 'call.refused', body: call }) : open;
}

/** Settles a permitted call under the lease that permitted it; a second time is refused (ERR_STATE). */
export function decideSettle(state: RunState, { settled }: CommandOf<'settleCall'>): Decision {
  const open = openForCalls(state);
  if (!open.ok) return open;
  const { callId, leaseId } = settled.call;
  const permitted = state.calls.get(callId);
  if (permitted !== leaseId)
    return refused('ERR_STATE', `Run ${state.ref.runId} has no open call ${callId} under lease ${leaseId}.`);
  return decided({ kind: 'call.settled', body: settled });
}

/** Ends the run. A call that was permitted and never settled leaves its outcome open: then the run failed and needs a person. */
export function decideClose(state: RunState): Decision {
  const open = openForCalls(state);
  if (!open.ok) return open;
  const openCount = state.calls.size;
  if (openCount === 0) return decided({ kind: 'run.ended', body: { result: 'completed', needsHuman: false } });
  const reason = `${openCount} permitted calls never reported how they ended.`;
  return decided({ kind: 'run.ended', body: { result: 'failed', needsHuman: true, reason } });
}

type Open =
  | { readonly ok: true; readonly origin: GovernedOrigin; readonly budget: BudgetState }
  | { readonly ok: false; readonly error: ErrorRecord };

function openForCalls({ origin, budget, phase, ref }: RunState): Open {
  const lawful = origin.level === 'governed' && budget !== undefined && phase !== 'ended';
  if (lawful) return { ok: true, origin, budget };
  return {
    ok: false,
    error: failure('ERR_STATE', `Run ${ref.runId} from ${origin.level} is ${phase}; it takes no calls.`),
  };
}
