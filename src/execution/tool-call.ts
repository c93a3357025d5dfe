/**
 * One tool call of a worker: permitted by the dispatch, within the budget and the deadline, under a lease exchanged for it, recorded
 * by digests, and returned as evidence. Six outcomes stay apart, each with its own code. Source: DESIGN §3.5, PROTOCOLS "MCP";
 * INV-06 (the budget is counted here, never self-reported), INV-14, INV-15.
 */
import { CaseOpsError, ERROR_CODES, errorCode } from '#contracts/error.ts';
import type { ToolCall } from '#contracts/evidence.ts';
import type { CallId } from '#contracts/ids.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Observed, ToolDefinition } from '#ports/team-definition.ts';
import type { ToolOutcome } from '#ports/tool-host.ts';
import type { EvidenceBinder } from './evidence-binder.ts';
import { assertRunning, endOf, timeLeftMs, type StepScope } from './step-scope.ts';
import { createToolLeases, writes, type PlannedCall } from './tool-lease.ts';

/** Tries of one read, the first included, when its outcome was unavailable or unknown. */
const READ_ATTEMPT_COUNT_MAX = 2;

export interface ToolCaller {
  /** Evidence per record; none: searched completely, found nothing. Throws CaseOpsError. */
  call<I, R>(tool: ToolDefinition<I, R>, input: I): Promise<readonly Observed<R>[]>;
  /** All calls so far, in the order in which they were started. */
  calls(): readonly ToolCall[];
  /** Calls made, retries included: what the budget is debited with. */
  readonly callCount: number;
}

/** A caller for one worker run. `tools` are the contracts that its skill names; no other tool can be called. */
export function createToolCaller(
  scope: StepScope,
  options: { readonly tools: readonly ToolContract[]; readonly binder: EvidenceBinder },
): ToolCaller {
  const leases = createToolLeases(scope, options.tools);
  const recorded: ToolCall[] = [];
  let callCount = 0;
  const attempt = async (planned: PlannedCall): Promise<Attempt> => {
    assertRunning(scope);
    if (callCount >= scope.dispatch.budget.toolCallCountMax) throw overBudget(scope, planned.contract);
    callCount += 1;
    const callId = scope.ids.next('call');
    const lease = await leases.leaseFor(planned);
    assertRunning(scope);
    const outcome = await callWithin(scope, planned, lease);
    recorded.push(recordOf({ scope, planned, lease, callId, outcome }));
    if (scope.signal.aborted) throw endOf(scope.signal, scope.dispatch.stepId);
    return { callId, outcome };
  };
  return {
    async call(tool, input) {
      const planned = planCall(scope, options.tools, { tool, input });
      const { callId, output } = await withRetry(scope, planned, {
        attempt: () => attempt(planned),
        budgetLeft: () => callCount < scope.dispatch.budget.toolCallCountMax,
      });
      return options.binder.bind({
        tool,
        output,
        resourceId: planned.resource.slice(tool.contract.resource.type.length + 1),
        tenant: scope.lease.claims.tenant,
        callId,
        receivedAtMs: scope.clock.nowMs(),
      });
    },
    calls: () => [...recorded],
    get callCount() {
      return callCount;
    },
  };
}

interface Attempt {
  readonly callId: CallId;
  readonly outcome: ToolOutcome;
}

/** What the worker asks for, checked against the dispatch before a budget is touched or a lease exchanged. */
export function planCall<I, R>(
  scope: StepScope,
  tools: readonly ToolContract[],
  wanted: { readonly tool: ToolDefinition<I, R>; readonly input: I },
): PlannedCall {
  const { contract } = wanted.tool;
  const { dispatch } = scope;
  const label = `${contract.server}/${contract.tool}`;
  const refuse = (message: string): CaseOpsError =>
    new CaseOpsError('ERR_POLICY', `Tool ${label} in step ${dispatch.stepId}: ${message}`, { at: 'worker' });
  if (!tools.some(({ digest }) => digest === contract.digest))
    throw refuse(`it is not one of the tools that skill ${dispatch.skillId} names.`);
  const forbidden = contract.requiredActions.filter((action) => dispatch.forbiddenActions.includes(action));
  if (forbidden.length > 0) throw refuse(`the goal prohibits ${forbidden.join(', ')}.`);
  const missing = contract.requiredActions.filter((action) => !dispatch.actions.includes(action));
  if (missing.length > 0) throw refuse(`the dispatch does not carry ${missing.join(', ')}.`);
  if (!contract.purposes.includes(dispatch.purpose)) throw refuse(`it does not serve purpose ${dispatch.purpose}.`);
  const parsed = wanted.tool.parseInput(wanted.input);
  if (!parsed.ok)
    throw new CaseOpsError(
      'ERR_SCHEMA',
      `The arguments of ${label} do not conform at ${parsed.issues.map(({ pointer }) => pointer || '/').join(', ')}.`,
      { at: 'worker' },
    );
  const args = { ...(parsed.value as Readonly<Record<string, unknown>>) };
  const resource = `${contract.resource.type}:${String(args[contract.resource.argument])}`;
  if (!dispatch.resources.includes(resource))
    throw refuse(`${resource} is not a resource of the dispatch, which names ${dispatch.resources.join(', ')}.`);
  return { contract, arguments: args, resource };
}

interface Tries {
  readonly attempt: () => Promise<Attempt>;
  readonly budgetLeft: () => boolean;
}

/** Reads are tried again after an unavailable or unknown outcome, within attempts, budget and deadline; writes never. */
async function withRetry(
  scope: StepScope,
  planned: PlannedCall,
  by: Tries,
): Promise<{ readonly callId: CallId; readonly output: unknown }> {
  const attemptCountMax =
    planned.contract.idempotency === 'read' && !writes(planned.contract) ? READ_ATTEMPT_COUNT_MAX : 1;
  for (let count = 1; ; count++) {
    const { callId, outcome } = await by.attempt();
    if (outcome.outcome === 'ok') return { callId, output: outcome.output };
    const waitMs = outcome.outcome === 'throttled' ? outcome.retryAfterMs : 0;
    const again = count < attemptCountMax && retryable(outcome) && by.budgetLeft() && waitMs < timeLeftMs(scope);
    if (!again) throw failureOf(scope, planned.contract, outcome);
    if (waitMs > 0) await scope.clock.sleep(waitMs, scope.signal);
  }
}

function retryable(outcome: ToolOutcome): boolean {
  switch (outcome.outcome) {
    case 'throttled':
    case 'unknown_outcome':
      return true;
    case 'tool_error':
      return isUnavailable(outcome.code);
    case 'ok':
    case 'contract_violation':
    case 'cancelled':
    case 'refused':
      return false;
  }
}

/** A tool's own code, when it is one of ours and says "try again"; any other code is its final word. */
function isUnavailable(code: string): boolean {
  const known = errorCode.safeParse(code);
  return known.success && ERROR_CODES[known.data] === 'unavailable';
}

/** Bounded by the tool's timeout and by what is left of the step. */
async function callWithin(scope: StepScope, planned: PlannedCall, lease: HeldLease): Promise<ToolOutcome> {
  const timeout = new AbortController();
  const limitMs = Math.min(planned.contract.timeoutMs, timeLeftMs(scope));
  const disarm = scope.clock.at(scope.clock.nowMs() + limitMs, () =>
    timeout.abort(
      new CaseOpsError('ERR_DEADLINE', `Tool ${planned.contract.tool} gave no answer within ${limitMs} ms.`, {
        at: 'worker',
      }),
    ),
  );
  try {
    const signal = AbortSignal.any([scope.signal, timeout.signal]);
    const presented = { ...lease, traceparent: scope.lease.held.traceparent };
    return await scope.toolHost.call(planned.contract, planned.arguments, presented, signal);
  } finally {
    disarm();
  }
}

function failureOf(
  scope: StepScope,
  contract: ToolContract,
  outcome: Exclude<ToolOutcome, { readonly outcome: 'ok' }>,
): CaseOpsError {
  const label = `${contract.server}/${contract.tool}`;
  const fail = (
    code: ConstructorParameters<typeof CaseOpsError>[0],
    message: string,
    detail: Readonly<Record<string, string | number>> = {},
  ): CaseOpsError =>
    new CaseOpsError(code, `Tool ${label} in step ${scope.dispatch.stepId}: ${message}`, {
      at: 'mcp',
      detail: { server: contract.server, tool: contract.tool, ...detail },
    });
  switch (outcome.outcome) {
    case 'tool_error':
      return new CaseOpsError('ERR_TOOL_FAILED', `Tool ${label} answered that it failed with ${outcome.code}.`, {
        at: 'mcp',
        detail: { server: contract.server, tool: contract.tool, toolCode: outcome.code },
        retryable: isUnavailable(outcome.code),
      });
    case 'contract_violation':
      return fail(outcome.code, outcome.message);
    case 'throttled':
      return fail('ERR_TOOL_THROTTLED', `it asks to be called again in ${outcome.retryAfterMs} ms.`, {
        retryAfterMs: outcome.retryAfterMs,
      });
    case 'cancelled':
      return cancellationOf(scope, outcome.reason, fail);
    case 'refused':
      return fail('ERR_LEASE', `the ${outcome.boundary} boundary refused the lease: ${outcome.code}.`, {
        refusal: outcome.code,
        boundary: outcome.boundary,
      });
    case 'unknown_outcome':
      return fail('ERR_TOOL_UNKNOWN_OUTCOME', 'the connection ended without an answer; what it did is unknown.');
  }
}

type Failing = (code: 'ERR_LEASE' | 'ERR_DEADLINE', message: string) => CaseOpsError;

function cancellationOf(
  scope: StepScope,
  reason: 'aborted' | 'deadline' | 'lease_revoked',
  fail: Failing,
): CaseOpsError {
  if (scope.signal.aborted) return endOf(scope.signal, scope.dispatch.stepId);
  if (reason === 'lease_revoked') return fail('ERR_LEASE', 'its lease was revoked during the call.');
  return fail('ERR_DEADLINE', 'it gave no answer in time.');
}

function recordOf(made: {
  readonly scope: StepScope;
  readonly planned: PlannedCall;
  readonly lease: HeldLease;
  readonly callId: CallId;
  readonly outcome: ToolOutcome;
}): ToolCall {
  const { contract, arguments: args } = made.planned;
  const { outcome, protocolRevision, serverVersion, startedAt, endedAt } = made.outcome;
  return {
    callId: made.callId,
    server: contract.server,
    tool: contract.tool,
    contractVersion: contract.version,
    contractDigest: contract.digest,
    protocolRevision,
    serverVersion,
    leaseId: made.lease.leaseId,
    worker: made.scope.worker,
    argumentsDigest: digestOf(args),
    ...(made.outcome.outcome === 'ok' ? { resultDigest: made.outcome.resultDigest } : {}),
    outcome,
    startedAt,
    endedAt,
  };
}

function overBudget(scope: StepScope, contract: ToolContract): CaseOpsError {
  const { stepId, budget } = scope.dispatch;
  return new CaseOpsError(
    'ERR_BUDGET',
    `Step ${stepId} has used its ${budget.toolCallCountMax} tool calls; ${contract.server}/${contract.tool} was not called.`,
    { at: 'worker', detail: { toolCallCountMax: budget.toolCallCountMax } },
  );
}
