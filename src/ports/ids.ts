import type {
  ApprovalId,
  ArtifactId,
  CallId,
  ClaimId,
  DispatchId,
  EffectId,
  EvidenceId,
  GoalId,
  LeaseId,
  PlanId,
  ReceiptId,
  RunId,
  SessionId,
  SnapshotId,
  TombstoneId,
} from '#contracts/ids.ts';

interface IdOfKind {
  run: RunId;
  goal: GoalId;
  plan: PlanId;
  dsp: DispatchId;
  art: ArtifactId;
  ev: EvidenceId;
  clm: ClaimId;
  lse: LeaseId;
  apv: ApprovalId;
  eff: EffectId;
  rcp: ReceiptId;
  ses: SessionId;
  cap: SnapshotId;
  call: CallId;
  tmb: TombstoneId;
}

/** Fresh ids by kind; unique in the deployment. The seeded adapter repeats the same sequence. */
export interface Ids {
  next<K extends keyof IdOfKind>(kind: K): IdOfKind[K];
}
