/**
 * The names of span attributes on the wire, in one table with a version of its own: a rename is a change of this file and of its version.
 * Correlation keys are ours; GenAI and MCP names follow the OpenTelemetry conventions, which have moved to a repository of their own and
 * are not stable yet. Source: PROTOCOLS "Telemetry".
 */
import type { SpanAttribute } from '#ports/telemetry.ts';

export const ATTRIBUTE_NAMES_VERSION = '1.0.0';
/** Reported with every span as the scope's schema, so that a backend can tell tables apart. */
export const ATTRIBUTE_NAMES_SCHEMA = `urn:caseops:telemetry:attribute-names:${ATTRIBUTE_NAMES_VERSION}`;

export const ATTRIBUTE_NAMES = {
  tenant: 'caseops.tenant',
  sessionId: 'session.id',
  requestId: 'request.id',
  runId: 'caseops.run.id',
  goalId: 'goal.id',
  planId: 'plan.id',
  planVersion: 'plan.version',
  stepId: 'step.id',
  attempt: 'caseops.step.attempt',
  dispatchId: 'caseops.dispatch.id',
  taskId: 'task.id',
  contextId: 'caseops.context.id',
  agentId: 'agent.id',
  agentName: 'gen_ai.agent.name',
  skillId: 'caseops.skill.id',
  artifactId: 'artifact.id',
  evidenceIds: 'evidence.id',
  leaseId: 'caseops.lease.id',
  toolName: 'tool.name',
  toolServer: 'caseops.tool.server',
  toolOutcome: 'caseops.tool.outcome',
  mcpMethod: 'mcp.method.name',
  mcpRevision: 'mcp.protocol.version',
  genAiOperation: 'gen_ai.operation.name',
  httpMethod: 'http.request.method',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  result: 'caseops.result',
  errorCode: 'error.type',
} as const satisfies Record<SpanAttribute, string>;

/** Fields that a convention knows under a second name. */
export const ALSO_NAMED: Readonly<Partial<Record<SpanAttribute, string>>> = {
  toolName: 'gen_ai.tool.name',
  agentId: 'gen_ai.agent.id',
};
