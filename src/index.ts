/** The public surface of CaseOps: define tools, skills, workers and teams; serve them; run goals. */
export { CaseOpsError, ERROR_CODES, type ErrorCode, type ErrorKind, type ErrorRecord } from '#contracts/error.ts';
export type { Finding, Plan } from '#contracts/plan.ts';
export type { ClaimView, RunSummary, RunView, StepView, WhyLink, WhyView } from '#contracts/run-view.ts';
export type { AgentView, PlanPreview, RunDesk } from '#ports/run-desk.ts';
export type { RetentionDesk, RetentionPolicy, RetentionReport, StoreReport } from '#ports/retention-desk.ts';
export type { ApprovalRow, ApprovalState } from '#contracts/approval.ts';
export type { EffectRow, EffectState } from '#contracts/effect-row.ts';
export type { ApprovalDesk, DecideRequest, ReconcileRequest } from '#ports/approval-desk.ts';
export type { GoalKind } from '#ports/goal-kind.ts';
export type { ModelBounds, Phraser, ToolProposalRequest, ToolProposalText, ToolProposer } from '#ports/model.ts';
export { DEFAULT_LIMITS, type Limits, type TenantLimits } from './runtime/limits.ts';
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
export { createCaseOps, type CaseOps, type CaseOpsOptions, type RunningTeam } from './runtime/create-case-ops.ts';
export type { TelemetryConfig } from './runtime/telemetry-config.ts';
export type { Asker, EventOptions, Goal, RunCalls } from './runtime/run-calls.ts';
export type { RunEvent } from '#contracts/event.ts';
export type { Artifact } from '#contracts/artifact.ts';
export type { Evidence } from '#contracts/evidence.ts';
export type { GoalContract } from '#contracts/goal.ts';
export type { Clock } from '#ports/clock.ts';
export type { Secret, Secrets } from '#ports/secrets.ts';
export { environmentSecrets, fileSecrets } from './runtime/secrets.ts';
export {
  checkConfig,
  defineConfig,
  type CaseOpsConfig,
  type CaseOpsConfigInput,
  type ConfigFinding,
} from './runtime/config.ts';
export { loadConfig, type LoadedConfig } from './runtime/load-config.ts';
export { remoteTeam, type RemoteTeam, type RemoteTeamOptions } from './runtime/remote-team.ts';
export { deploymentTrust } from './runtime/deployment-trust.ts';
export type { DevelopmentAccount } from '#authority/development-issuer.ts';
export { checkInstallation, type Installation } from './runtime/check-installation.ts';
export { defineGoalKind, type GoalKindOptions } from './runtime/define-goal-kind.ts';
export { defineAgenticWorker, type AgenticWorkerOptions } from './runtime/define-agentic-worker.ts';
export {
  defineCase,
  type CaseDefinition,
  type CaseOptions,
  type EffectContext,
  type EffectTargetFactory,
  type InboxFactory,
  type TeamContext,
  type TeamFactory,
} from './runtime/define-case.ts';
export { createGoverned } from './runtime/create-governed.ts';
export { governedTool, type GovernedTool } from './runtime/governed-tool.ts';
export { governedEffect } from './runtime/governed-effect.ts';
export type {
  Decider,
  GovernedEffect,
  GovernedEffectOptions,
  ShownEffect,
} from './runtime/governed/effect-tool-options.ts';
export type {
  CitedEvidence,
  DevelopmentGrant,
  Governed,
  GovernedOptions,
  GovernedSession,
  GovernedToolOptions,
  RecordDescription,
} from './runtime/governed/governed-options.ts';
export { defineSkill } from './runtime/define-skill.ts';
export { defineTeam } from './runtime/define-team.ts';
export { defineTool, serveTool } from './runtime/define-tool.ts';
export { defineWorker } from './runtime/define-worker.ts';
export { serveTeam, type ServedTeam, type ServeTeamOptions } from './runtime/serve-team.ts';
export { VERSION } from './runtime/version.ts';
export { SUPERVISOR_WORKLOAD } from './runtime/workloads.ts';
export { mcpServer } from './runtime/mcp-server.ts';
