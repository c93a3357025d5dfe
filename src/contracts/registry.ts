/** The published contracts: one id, one version and one schema each. `schemas/` is written from this table. */
import type { z } from 'zod';
import { approvalRow } from './approval.ts';
import { answer } from './answer.ts';
import { artifact } from './artifact.ts';
import { capabilitySnapshot } from './capability-snapshot.ts';
import { claim } from './claim.ts';
import { dispatch } from './dispatch.ts';
import { effectAction } from './effect-action.ts';
import { effectRecord } from './effect-record.ts';
import { effectRow } from './effect-row.ts';
import { errorRecord } from './error.ts';
import { EVENT_BODIES } from './event.ts';
import { evidence } from './evidence.ts';
import { goalContract } from './goal.ts';
import { join } from './join.ts';
import { leaseClaims } from './lease.ts';
import { plan } from './plan.ts';
import { proposal } from './proposal.ts';
import { effectReceipt } from './receipt.ts';
import { runSummary, runView, whyView } from './run-view.ts';
import { session } from './session.ts';
import { skillContract } from './skill.ts';
import { stepResult } from './step-result.ts';
import { toolContract } from './tool-contract.ts';
import { toolProposal } from './tool-proposal.ts';

export interface PublishedContract {
  readonly id: string;
  readonly version: string;
  readonly schema: z.ZodType;
}

const nouns: Readonly<Record<string, readonly [version: string, schema: z.ZodType]>> = {
  session: ['1.0.0', session],
  goal: ['1.0.0', goalContract],
  skill: ['1.0.0', skillContract],
  'capability-snapshot': ['1.0.0', capabilitySnapshot],
  plan: ['1.0.0', plan],
  join: ['1.0.0', join],
  dispatch: ['1.0.0', dispatch],
  lease: ['1.0.0', leaseClaims],
  artifact: ['1.0.0', artifact],
  evidence: ['1.0.0', evidence],
  'step-result': ['1.1.0', stepResult],
  error: ['1.0.0', errorRecord],
  claim: ['1.0.0', claim],
  answer: ['1.0.0', answer],
  'tool-contract': ['1.1.0', toolContract],
  'tool-proposal': ['1.0.0', toolProposal],
  'effect-action': ['1.0.0', effectAction],
  proposal: ['1.0.0', proposal],
  approval: ['1.0.0', approvalRow],
  receipt: ['1.0.0', effectReceipt],
  'effect-record': ['1.0.0', effectRecord],
  'effect-row': ['1.0.0', effectRow],
  'run-view': ['1.2.0', runView],
  'run-summary': ['1.0.0', runSummary],
  'why-view': ['1.1.0', whyView],
};

/** Of events whose body has grown since it was first published. */
const EVENT_CONTRACT_VERSIONS: Readonly<Partial<Record<string, string>>> = {
  'run.received': '1.3.0',
  'run.blocked': '1.2.0',
  'run.unblocked': '1.2.0',
  'approval.staled': '1.1.0',
  'tool.adopted': '1.1.0',
  'step.settled': '1.1.0',
};

const events = Object.entries(EVENT_BODIES).map(([kind, schema]): PublishedContract => ({
  id: `event.${kind}`,
  version: EVENT_CONTRACT_VERSIONS[kind] ?? '1.0.0',
  schema,
}));

/** Every published contract, in the order of their ids. */
export const PUBLISHED_CONTRACTS: readonly PublishedContract[] = [
  ...Object.entries(nouns).map(([id, [version, schema]]): PublishedContract => ({ id, version, schema })),
  ...events,
].toSorted((a, b) => (a.id < b.id ? -1 : 1));
