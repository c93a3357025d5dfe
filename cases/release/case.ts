/** The release case: four teams, one goal, and the one effect of giving a release its share of the traffic. */
import { defineCase } from 'caseops';
import { releasePromotion } from './goal.ts';

const reads = ['releases:read', 'releases:assess', 'evals:read', 'metrics:read', 'policies:read'];

export const releaseCase = defineCase({
  name: 'release',
  module: import.meta.url,
  goalKinds: [releasePromotion],
  teams: {
    release: async () => (await import('./release/team.ts')).team,
    eval: async () => (await import('./eval/team.ts')).team,
    health: async () => (await import('./health/team.ts')).team,
    policy: async () => (await import('./policy/team.ts')).team,
  },
  requester: { purposes: ['release_promotion'], actions: [...reads, 'releases:promote'] },
  workloadActions: [...reads, 'releases:promote'],
  accounts: ['requester@tenant-7', 'approver@tenant-7', 'auditor@tenant-7'],
  effectTargets: async () => (await import('./effect-targets.ts')).effectTargets,
});
