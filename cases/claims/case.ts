/** The claims case: four teams, three kinds of goal, one effect, the people of two tenants. */
import { defineCase } from 'caseops';
import { claimInvestigation, claimNotification, claimPortfolio } from './goal.ts';

const actions = ['members:read', 'claims:read', 'policies:read', 'notices:draft', 'notify:send'];
const purposes = ['claim_investigation', 'claim_portfolio', 'claim_notification'];

export const claimsCase = defineCase({
  name: 'claims',
  module: import.meta.url,
  goalKinds: [claimInvestigation, claimPortfolio, claimNotification],
  teams: {
    member: async () => (await import('./member/team.ts')).team,
    claims: async () => (await import('./claims/team.ts')).team,
    knowledge: async () => (await import('./knowledge/team.ts')).team,
    notification: async () => (await import('./notification/team.ts')).team,
  },
  effectTargets: async () => (await import('./effect-targets.ts')).effectTargets,
  approvals: [{ action: 'notify:send', role: 'approver', expiresInMs: 60 * 60_000 }],
  requester: { purposes, actions },
  workloadActions: actions,
});
