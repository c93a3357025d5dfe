/** The claims case: four teams, two kinds of goal, the people of two tenants. */
import { defineCase } from 'caseops';
import { claimInvestigation, claimPortfolio } from './goal.ts';

const actions = ['members:read', 'claims:read', 'policies:read', 'notices:draft'];
const purposes = ['claim_investigation', 'claim_portfolio'];

export const claimsCase = defineCase({
  name: 'claims',
  module: import.meta.url,
  goalKinds: [claimInvestigation, claimPortfolio],
  teams: {
    member: async () => (await import('./member/team.ts')).team,
    claims: async () => (await import('./claims/team.ts')).team,
    knowledge: async () => (await import('./knowledge/team.ts')).team,
    notification: async () => (await import('./notification/team.ts')).team,
  },
  requester: { purposes, actions },
  workloadActions: actions,
});
