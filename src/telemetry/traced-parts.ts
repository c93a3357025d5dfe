/**
 * Ports with a span around each request: the part behind sees a lease whose traceparent is the span's, so that the next hop continues
 * there. What the parts do is not changed. Source: PROTOCOLS "Telemetry".
 */
import type { Guard } from '#ports/guard.ts';
import type { HeldLease, LeaseExchange } from '#ports/issuer.ts';
import type { McpServerDefinition, ToolEndpoint } from '#ports/team-definition.ts';
import type { TeamTransport, TeamUpdate } from '#ports/team-transport.ts';
import type { Span, Telemetry } from '#ports/telemetry.ts';
import type { ToolHost } from '#ports/tool-host.ts';

/** One client span per send, over the whole stream of its task. */
export function traceTransport(transport: TeamTransport, telemetry: Telemetry): TeamTransport {
  return {
    team: transport.team,
    discover: (signal) => transport.discover(signal),
    cancel: (taskId, lease, signal) => transport.cancel(taskId, lease, signal),
    async *send(dispatch, lease, signal) {
      const { runId, goalId, planId, planVersion, stepId, attempt, dispatchId, skillId, tenant } = dispatch;
      const span = telemetry.startSpan(`send ${skillId}`, {
        parent: lease.traceparent,
        kind: 'client',
        attributes: {
          tenant,
          runId,
          goalId,
          planId,
          planVersion,
          stepId,
          attempt,
          dispatchId,
          skillId,
          agentName: transport.team,
          leaseId: lease.leaseId,
        },
      });
      const seen = { taskId: undefined, error: undefined } as { taskId: string | undefined; error: string | undefined };
      try {
        for await (const update of transport.send(dispatch, inSpan(lease, span), signal)) {
          noteUpdate(seen, update);
          yield update;
        }
      } catch (error) {
        seen.error ??= codeOf(error);
        throw error;
      } finally {
        span.end({ attributes: { taskId: seen.taskId }, error: seen.error });
      }
    },
  };
}

function noteUpdate(seen: { taskId: string | undefined; error: string | undefined }, update: TeamUpdate): void {
  if (update.kind === 'started') seen.taskId = update.taskId;
  if (update.kind === 'failed') seen.error = update.error.code;
}

/** One client span per call. */
export function traceToolHost(host: ToolHost, telemetry: Telemetry): ToolHost {
  return {
    audience: (server) => host.audience(server),
    verify: (contracts, lease, signal) => host.verify(contracts, lease, signal),
    call: async (contract, args, lease, signal) => {
      const span = telemetry.startSpan(`tools/call ${contract.tool}`, {
        parent: lease.traceparent,
        kind: 'client',
        attributes: {
          mcpMethod: 'tools/call',
          toolName: contract.tool,
          toolServer: contract.server,
          genAiOperation: 'execute_tool',
          leaseId: lease.leaseId,
        },
      });
      try {
        const outcome = await host.call(contract, args, inSpan(lease, span), signal);
        telemetry.count('tool_calls', { outcome: outcome.outcome });
        const seconds = (Date.parse(outcome.endedAt) - Date.parse(outcome.startedAt)) / 1_000;
        telemetry.observe('tool_call_duration', seconds, { outcome: outcome.outcome });
        span.end({
          attributes: { toolOutcome: outcome.outcome, mcpRevision: outcome.protocolRevision },
          error: outcome.outcome === 'ok' ? undefined : 'code' in outcome ? outcome.code : outcome.outcome,
        });
        return outcome;
      } catch (error) {
        span.end({ error: codeOf(error) });
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/** One client span per exchange. */
export function traceExchange(exchange: LeaseExchange, telemetry: Telemetry): LeaseExchange {
  return {
    exchange: async (request, signal) => {
      const span = telemetry.startSpan('exchange lease', {
        parent: request.parent.traceparent,
        kind: 'client',
        attributes: { taskId: request.taskId, contextId: request.contextId, leaseId: request.parent.leaseId },
      });
      try {
        const held = await exchange.exchange({ ...request, parent: inSpan(request.parent, span) }, signal);
        span.end();
        return held;
      } catch (error) {
        span.end({ error: codeOf(error) });
        throw error;
      }
    },
  };
}

/** Counts and logs what a guard refuses; a permit is neither. */
export function countRefusals(guard: Guard, telemetry: Telemetry): Guard {
  const counted = <T extends { readonly outcome: string }>(checked: T): T => {
    if ('boundary' in checked && 'code' in checked) {
      const refusal = { boundary: String(checked.boundary), code: String(checked.code) };
      telemetry.count('refusals', refusal);
      telemetry.log('warn', 'A guard refused a request.', refusal);
    }
    return checked;
  };
  return {
    authenticate: (request) => counted(guard.authenticate(request)),
    authorize: (authenticated, operation) => counted(guard.authorize(authenticated, operation)),
    consumption: (authenticated) => guard.consumption(authenticated),
  };
}

/** One span per entry of a tool: the last hop of a trace, and what a tool itself asks continues from it. */
export function traceTools(server: McpServerDefinition, telemetry: Telemetry): McpServerDefinition {
  const traced = (tool: ToolEndpoint): ToolEndpoint => ({
    contract: tool.contract,
    invoke: async (args, caller) => {
      const span = telemetry.startSpan(`execute_tool ${tool.contract.tool}`, {
        parent: caller.traceparent,
        attributes: {
          genAiOperation: 'execute_tool',
          toolName: tool.contract.tool,
          toolServer: server.name,
          tenant: caller.tenant,
          leaseId: caller.leaseId,
        },
      });
      try {
        const records = await tool.invoke(args, { ...caller, traceparent: span.traceparent });
        span.end();
        return records;
      } catch (error) {
        span.end({ error: codeOf(error) });
        throw error;
      }
    },
  });
  return { ...server, tools: server.tools.map(traced) };
}

function inSpan(lease: HeldLease, { traceparent }: Span): HeldLease {
  return { ...lease, traceparent };
}

/** The code of one of our errors, the name of another; never its text. */
function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
