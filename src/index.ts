/** The public surface of CaseOps: define tools, skills, workers and teams; serve them; run goals. */
export { CaseOpsError, ERROR_CODES, type ErrorCode, type ErrorKind, type ErrorRecord } from '#contracts/error.ts';
export type { GoalKind } from '#ports/goal-kind.ts';
export type {
  Observed,
  PolicyRow,
  TeamDefinition,
  ToolCaller,
  ToolDefinition,
  ToolRecord,
  WorkerContext,
  WorkerResult,
} from '#ports/team-definition.ts';
export {
  defineCase,
  type CaseAccount,
  type CaseDefinition,
  type TeamContext,
  type TeamFactory,
} from './runtime/define-case.ts';
export { defineSkill } from './runtime/define-skill.ts';
export { defineTeam } from './runtime/define-team.ts';
export { defineTool, serveTool } from './runtime/define-tool.ts';
export { defineWorker } from './runtime/define-worker.ts';
export { mcpServer } from './runtime/mcp-server.ts';
