/** The claims case: four teams, two kinds of goal, the people of two tenants. */
import { defineCase } from 'caseops';
import { claimInvestigation, claimPortfolio } from './goal.ts';

const actions = ['members:read', 'claims:read', 'policies:read', 'notices:draft'];
const purposes = ['claim_investigation', 'claim_portfolio'];

export const claimsCase = defineCase({
  name: 'claims',
  goalKinds: [claimInvestigation, claimPortfolio],
  teams: {
    member: async () => (await import('./member/team.ts')).team,
    claims: async () => (await import('./claims/team.ts')).team,
    knowledge: async () => (await import('./knowledge/team.ts')).team,
    notification: async () => (await import('./notification/team.ts')).team,
  },
  accounts: [
    { account: 'requester@t9', tenant: 't9', roles: ['requester'], purposes, actions },
    { account: 'approver@t9', tenant: 't9', roles: ['approver'], purposes, actions: [] },
    { account: 'auditor@t9', tenant: 't9', roles: ['auditor'], purposes, actions: [] },
    { account: 'requester@t8', tenant: 't8', roles: ['requester'], purposes, actions },
  ],
  workloadActions: actions,
});
