/**
 * One governed call: arguments → lease → guard → debit → the tool, within its time → output → evidence → log. A refusal is thrown with
 * its own code and recorded; nothing that was refused reaches the program. Source: docs/decisions/0010; INV-06, INV-14, INV-15.
 */
import type { PermittedCall } from '#contracts/call-events.ts';
import { CaseOpsError, toErrorRecord } from '#contracts/error.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { CallId, StepId } from '#contracts/ids.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import { canonicalText } from '#kernel/canonical.ts';
import { digestOf } from '#kernel/digest.ts';
import type { RecordWrite } from '#ports/store.ts';
import type { GovernedTool } from './adopted-tool.ts';
import { checkArguments, resourceOf, type JsonArguments } from './call-arguments.ts';
import { jsonOutput, mappedRecords } from './record-mapping.ts';
import type { GovernedSession } from './session.ts';
import { withinTime } from './within-time.ts';

/** How an adapter enters the tool that the program brought. */
export interface Invocation {
  readonly arguments: unknown;
  /** The framework's own signal. */
  readonly signal: AbortSignal | undefined;
  readonly run: (args: JsonArguments, signal: AbortSignal) => Promise<unknown>;
  /** What was observed, from what the framework's tool returns. Throws CaseOpsError when the tool says that it failed. */
  readonly observed: (returned: unknown) => unknown;
  /** True for what a framework throws to steer itself: it passes as it is. */
  readonly steers: (thrown: unknown) => boolean;
}

/** What the tool returned. Throws CaseOpsError: ERR_SCHEMA, ERR_LEASE, ERR_BUDGET, ERR_DEADLINE, ERR_CANCELLED, ERR_TOOL_*. */
export function governedCall(session: GovernedSession, tool: GovernedTool, invocation: Invocation): Promise<unknown> {
  return session.during(async () => {
    const call = { callId: session.options.ids.next('call'), stepId: session.nextStep() };
    const permitted = await permit(session, tool, { call, given: invocation.arguments });
    return perform(session, tool, { permitted, invocation });
  });
}

interface Permitted {
  readonly call: PermittedCall;
  readonly contract: ToolContract;
  readonly arguments: JsonArguments;
  readonly resourceId: string;
  readonly startedAt: string;
}

interface Asked {
  readonly call: { readonly callId: CallId; readonly stepId: StepId };
  readonly given: unknown;
}

/** Everything before the tool. A refusal is recorded, then thrown. */
async function permit(session: GovernedSession, tool: GovernedTool, { call, given }: Asked): Promise<Permitted> {
  let args: JsonArguments | undefined;
  const adopted = await tool.adopted();
  try {
    await session.tell({ kind: 'adoptTool', tool: adopted });
    args = await checkArguments(tool.name, tool.input, given);
    const { id, resource } = resourceOf(tool.name, tool.resource, args);
    return await admitted(session, tool, { call, args, resource, resourceId: id });
  } catch (error) {
    const argumentsDigest = args === undefined ? null : digestOf(args);
    const record = toErrorRecord(error, { code: 'ERR_STATE', at: 'tool' });
    await session.tell({ kind: 'refuseCall', call: { ...call, tool: tool.name, argumentsDigest, error: record } });
    throw error;
  }
}

interface Checked {
  readonly call: Asked['call'];
  readonly args: JsonArguments;
  readonly resource: string;
  readonly resourceId: string;
}

/** The debit and the use of the lease are one transaction, before the tool is entered. */
async function admitted(
  session: GovernedSession,
  tool: GovernedTool,
  { call, args, resource, resourceId }: Checked,
): Promise<Permitted> {
  const { clock } = session.options;
  const { contract } = await tool.adopted();
  const { actions, timeoutMs } = tool;
  const { leaseId, records } = session.door.admit({
    tool: tool.name,
    actions,
    resource,
    classification: contract.classification,
    arguments: args,
    stepId: call.stepId,
    timeoutMs,
  });
  const permittedCall: PermittedCall = {
    ...call,
    tool: tool.name,
    contractDigest: contract.digest,
    leaseId,
    actions: [...actions],
    resource,
    argumentsDigest: digestOf(args),
    deadlineAt: new Date(clock.nowMs() + timeoutMs).toISOString(),
  };
  const startedAt = clock.now();
  await session.tell({ kind: 'permitCall', call: permittedCall }, records);
  return { call: permittedCall, contract, arguments: args, resourceId, startedAt };
}

interface Performing {
  readonly permitted: Permitted;
  readonly invocation: Invocation;
}

async function perform(session: GovernedSession, tool: GovernedTool, by: Performing): Promise<unknown> {
  const { permitted, invocation } = by;
  let output: unknown;
  try {
    const returned = await withinTime(
      {
        clock: session.options.clock,
        deadlineAt: permitted.call.deadlineAt,
        signals: [session.signal, ...(invocation.signal === undefined ? [] : [invocation.signal])],
        call: `call ${permitted.call.callId} of ${tool.name}`,
      },
      (signal) => invocation.run(structuredClone(permitted.arguments), signal),
    );
    output = jsonOutput(tool.name, invocation.observed(returned));
    const { evidence, records } = await observe(session, tool, { permitted, output });
    await settle(session, by, { outcome: 'ok', evidence, records, output });
    return returned;
  } catch (thrown) {
    const error = failureOf(tool, thrown);
    await settle(session, by, { outcome: outcomeOf(error), evidence: [], records: [], output, error });
    throw invocation.steers(thrown) ? thrown : error;
  }
}

/** The evidence of the output, with the observed records by digest. All or nothing. */
async function observe(
  { options, binder }: GovernedSession,
  tool: GovernedTool,
  { permitted, output }: { readonly permitted: Permitted; readonly output: unknown },
): Promise<{ readonly evidence: readonly Evidence[]; readonly records: readonly RecordWrite[] }> {
  const verdict = await tool.output?.validate(structuredClone(output));
  if (verdict !== undefined && !verdict.ok) {
    const where = verdict.findings.map(({ pointer }) => pointer || '/').join(', ');
    throw new CaseOpsError('ERR_TOOL_OUTPUT_SCHEMA', `Tool ${tool.name} broke its own output schema at ${where}.`, {
      at: 'tool',
    });
  }
  const { clock, grant } = options;
  const bound = binder.bind({
    tool: { contract: permitted.contract, parseRecord: tool.parseRecord },
    output: mappedRecords(tool.mapping, output, clock.now()),
    resourceId: permitted.resourceId,
    tenant: grant.tenant,
    callId: permitted.call.callId,
    receivedAtMs: clock.nowMs(),
  });
  const evidence = bound.map((one) => one.evidence);
  const records = evidence.map((item): RecordWrite => {
    const text = canonicalText(binder.find(item.evidenceId)?.record) ?? '';
    return { table: 'artifact', tenant: grant.tenant, digest: item.digest, bytes: new TextEncoder().encode(text) };
  });
  return { evidence, records };
}

interface Outcome {
  readonly outcome: ToolCall['outcome'];
  readonly evidence: readonly Evidence[];
  readonly records: readonly RecordWrite[];
  readonly output: unknown;
  readonly error?: CaseOpsError;
}

async function settle(session: GovernedSession, { permitted }: Performing, end: Outcome): Promise<void> {
  const { call, contract, startedAt } = permitted;
  const { clock } = session.options;
  const toolCall: ToolCall = {
    callId: call.callId,
    server: contract.server,
    tool: call.tool,
    contractVersion: contract.version,
    contractDigest: call.contractDigest,
    protocolRevision: 'in-process',
    serverVersion: '',
    leaseId: call.leaseId,
    worker: 'program',
    argumentsDigest: call.argumentsDigest,
    ...(end.output === undefined ? {} : { resultDigest: digestOf(end.output) }),
    outcome: end.outcome,
    startedAt,
    endedAt: clock.now(),
  };
  const error = end.error === undefined ? null : toErrorRecord(end.error, { code: 'ERR_TOOL_FAILED', at: 'tool' });
  const settled = { stepId: call.stepId, call: toolCall, evidence: [...end.evidence], error };
  await session.tell({ kind: 'settleCall', settled }, end.records);
}

/** What the tool itself threw stays the cause; its text is not recorded, since it may hold anything. */
function failureOf(tool: GovernedTool, thrown: unknown): CaseOpsError {
  if (thrown instanceof CaseOpsError) return thrown;
  return new CaseOpsError('ERR_TOOL_FAILED', `Tool ${tool.name} failed.`, { at: 'tool', cause: thrown });
}

function outcomeOf({ code }: CaseOpsError): ToolCall['outcome'] {
  if (code === 'ERR_CANCELLED' || code === 'ERR_DEADLINE') return 'cancelled';
  return code.startsWith('ERR_TOOL_OUTPUT_') ? 'contract_violation' : 'tool_error';
}
