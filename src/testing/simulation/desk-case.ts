/**
 * The case that the simulator is run on: two teams that find out why a claim is held and draft a notice, one owner that sends it after
 * approval, two tenants with records under the same names. Synthetic.
 */
import type { RootGrant } from '#contracts/lease.ts';
import type { GoalKind } from '#ports/goal-kind.ts';
import type { ServedTool, TeamDefinition, ToolRecord } from '#ports/team-definition.ts';
import type { Clock } from '#ports/clock.ts';
import { defineSkill } from '#runtime/define-skill.ts';
import { defineTeam } from '#runtime/define-team.ts';
import { defineTool, serveTool } from '#runtime/define-tool.ts';
import { defineWorker } from '#runtime/define-worker.ts';
import { mcpServer } from '#runtime/mcp-server.ts';
import { SUPERVISOR_WORKLOAD } from '#runtime/workloads.ts';
import { z } from 'zod';
import { INQUIRY_ACTIONS, INQUIRY_GRANT, INQUIRY_KIND, PORTFOLIO_KIND } from '../inquiry-case.ts';
import { createMemoryTarget } from '../memory-effect-target.ts';
import { APPROVER, NOTICE_KIND } from '../notice-case.ts';
import type { SimulatedCase } from './simulated-case.ts';

const TENANTS = ['t9', 't8'];
const PURPOSES = ['claim-inquiry', 'claim-portfolio'];
const version = '1.0.0';
const text = z.string();

const findMember = defineTool({
  server: 'records',
  name: 'find_member',
  version,
  description: 'The member of a claim.',
  input: z.object({ claim_id: text }),
  record: z.object({ member_id: text, claim_id: text }),
  resource: { type: 'claim', argument: 'claim_id' },
  anchorType: 'member',
  actions: ['members:read'],
  purposes: PURPOSES,
});

const getClaim = defineTool({
  server: 'records',
  name: 'get_claim',
  version,
  description: 'A claim.',
  input: z.object({ claim_id: text }),
  record: z.object({ claim_id: text, status: text, missing: z.array(text) }),
  resource: { type: 'claim', argument: 'claim_id' },
  anchorType: 'claim',
  actions: ['claims:read'],
  purposes: PURPOSES,
});

const findRule = defineTool({
  server: 'rules',
  name: 'find_rule',
  version,
  description: 'What is to be done.',
  input: z.object({ cause: text }),
  record: z.object({ rule_id: text, next: text }),
  resource: { type: 'policy-topic', argument: 'cause' },
  anchorType: 'policy-rule',
  actions: ['policies:read'],
  purposes: PURPOSES,
});

const draftNotice = defineTool({
  server: 'rules',
  name: 'draft_notice',
  version,
  description: 'Drafts a notice.',
  input: z.object({ claim_id: text }),
  record: z.object({ draft_id: text, body: text }),
  resource: { type: 'claim', argument: 'claim_id' },
  anchorType: 'notice-draft',
  actions: ['notices:draft'],
  purposes: PURPOSES,
});

const limits = { timeoutMs: 2_000, retry: { attemptCountMax: 2, backoffMs: 50 } } as const;

const resolveMember = defineSkill({
  ...limits,
  id: 'resolve-member',
  version,
  description: 'Whose claim it is.',
  input: z.object({ claim_id: text }),
  artifact: z.object({ member_id: text }),
  produces: [{ kind: 'member_id', pointer: '/member_id' }],
  tools: [findMember],
});

const claimStatus = defineSkill({
  ...limits,
  id: 'claim-status',
  version,
  description: 'Why a claim is held.',
  input: z.object({ claim_id: text, member_id: text }),
  artifact: z.object({ cause: text, missing_documents: z.array(text) }),
  produces: [
    { kind: 'cause', pointer: '/cause' },
    { kind: 'missing_documents', pointer: '/missing_documents' },
  ],
  tools: [getClaim],
});

const policyGuidance = defineSkill({
  ...limits,
  id: 'policy-guidance',
  version,
  description: 'What is to be done next.',
  input: z.object({ cause: text }),
  artifact: z.object({ next_action: text }),
  produces: [{ kind: 'next_action', pointer: '/next_action' }],
  tools: [findRule],
});

const draft = defineSkill({
  ...limits,
  id: 'draft-notice',
  version,
  description: 'Drafts a notice.',
  risk: 'draft',
  input: z.object({ claim_id: text, missing_documents: z.array(text) }),
  artifact: z.object({ notice_draft: text }),
  produces: [{ kind: 'notice_draft', pointer: '/notice_draft' }],
  tools: [draftNotice],
});

const sendNotice = defineSkill({
  ...limits,
  id: 'send-notice',
  version,
  description: 'Sends a notice.',
  risk: 'effect',
  input: z.object({ notice_draft: text }),
  artifact: z.object({ notice_sent: text }),
  produces: [{ kind: 'notice_sent', pointer: '/notice_sent' }],
  actions: ['notify:send'],
  effectActions: ['notify:send'],
  resources: [{ type: 'notice-draft', input: 'notice_draft' }],
  purposes: PURPOSES,
  tools: [],
  evidence: { anchorTypes: ['sent-notice'], countMin: 1 },
});

/** Nothing is known of a claim whose number begins with 4. */
const known = (claimId: string): boolean => !claimId.startsWith('C-4');

/** A record of one's own tenant: both tenants have each number, and the version says whose it is. */
function recordOf<R>(
  clock: Clock,
  of: { readonly tenant: string; readonly id: string; readonly data: R },
): ToolRecord<R> {
  return { ...of, version: `${of.tenant}.v3`, observedAt: clock.now() };
}

function recordsTeam(clock: Clock): TeamDefinition {
  const member: ServedTool<{ claim_id: string }, { member_id: string; claim_id: string }>['handle'] = (
    { claim_id },
    { tenant },
  ) =>
    known(claim_id)
      ? [recordOf(clock, { tenant, id: `m-${claim_id}`, data: { member_id: `m-${claim_id}`, claim_id } })]
      : [];
  const claim: ServedTool<{ claim_id: string }, { claim_id: string; status: string; missing: string[] }>['handle'] = (
    { claim_id },
    { tenant },
  ) =>
    known(claim_id)
      ? [recordOf(clock, { tenant, id: claim_id, data: { claim_id, status: 'pending', missing: ['report'] } })]
      : [];
  return defineTeam('records', {
    version,
    description: 'Members and claims.',
    tenants: TENANTS,
    workers: [
      defineWorker(resolveMember, {
        name: 'member-reader',
        run: async ({ claim_id }, context) => {
          const [found] = await context.call(findMember, { claim_id });
          if (found === undefined) return { status: 'no_data', evidence: [], missing: ['the member'] };
          return { status: 'completed', data: { member_id: found.record.member_id }, evidence: [found.evidence] };
        },
      }),
      defineWorker(claimStatus, {
        name: 'claim-reader',
        run: async ({ claim_id }, context) => {
          const [found] = await context.call(getClaim, { claim_id });
          if (found === undefined) return { status: 'no_data', evidence: [], missing: ['the claim'] };
          const { status, missing } = found.record;
          return {
            status: 'completed',
            data: { cause: status, missing_documents: missing },
            evidence: [found.evidence],
          };
        },
      }),
    ],
    mcpServers: [mcpServer('records', { version, tools: [serveTool(findMember, member), serveTool(getClaim, claim)] })],
  });
}

function noticesTeam(clock: Clock): TeamDefinition {
  return defineTeam('notices', {
    version,
    description: 'Rules and notices.',
    tenants: TENANTS,
    workers: [
      defineWorker(policyGuidance, {
        name: 'rule-reader',
        run: async ({ cause }, context) => {
          const [found] = await context.call(findRule, { cause });
          if (found === undefined) return { status: 'no_data', evidence: [], missing: ['the rule'] };
          return { status: 'completed', data: { next_action: found.record.next }, evidence: [found.evidence] };
        },
      }),
      defineWorker(draft, {
        name: 'drafter',
        run: async ({ claim_id }, context) => {
          const [found] = await context.call(draftNotice, { claim_id });
          if (found === undefined) return { status: 'no_data', evidence: [], missing: ['the draft'] };
          return { status: 'completed', data: { notice_draft: found.record.draft_id }, evidence: [found.evidence] };
        },
      }),
    ],
    contractsOnly: [sendNotice],
    mcpServers: [
      mcpServer('rules', {
        version,
        tools: [
          serveTool(findRule, ({ cause }, { tenant }) => [
            recordOf(clock, {
              tenant,
              id: `rule-${cause}`,
              data: { rule_id: `rule-${cause}`, next: 'Ask for the report.' },
            }),
          ]),
          serveTool(draftNotice, ({ claim_id }, { tenant }) => [
            recordOf(clock, {
              tenant,
              id: `D-${claim_id}`,
              data: { draft_id: `D-${claim_id}`, body: 'Please send it.' },
            }),
          ]),
        ],
      }),
    ],
  });
}

const at = (tenant: string): RootGrant => ({
  ...INQUIRY_GRANT,
  sub: `requester@${tenant}`,
  tenant,
  may_act: { sub: SUPERVISOR_WORKLOAD },
});
const approver = (tenant: string): RootGrant => ({
  ...APPROVER,
  sub: `approver@${tenant}`,
  tenant,
  may_act: { sub: SUPERVISOR_WORKLOAD },
});
const OWN = at('t9');
const OTHER = at('t8');
/** Not one call more than the plan reserves: attempts that are lost bring a run to the edge. */
const budgetOf = (toolCallCountMax: number) => ({ ...INQUIRY_KIND.budget, toolCallCountMax });

/** One step alone: the smallest world in which everything can go wrong. */
const MEMBER_KIND: GoalKind = {
  ...INQUIRY_KIND,
  kind: 'claim-member',
  recognise: { en: [['\\bwhose\\b']] },
  outputs: [{ kind: 'member_id', required: true }],
  claims: [
    {
      key: 'member',
      kind: 'fact',
      output: 'member_id',
      sentence: { en: 'It is the claim of {member}.' },
      slots: { member: { anchorType: 'member', pointer: '/member_id', format: 'identifier' } },
    },
  ],
  budget: budgetOf(2),
};

/** Its targets keep what was sent for as long as the world lasts. */
export const DESK_CASE: SimulatedCase = {
  name: 'desk',
  teams: (clock) => [recordsTeam(clock), noticesTeam(clock)],
  goalKinds: [
    { ...NOTICE_KIND, budget: budgetOf(6) },
    MEMBER_KIND,
    { ...INQUIRY_KIND, budget: budgetOf(8) },
    { ...PORTFOLIO_KIND, budget: budgetOf(8) },
  ],
  asks: [
    { text: 'Why is C-102 held? Draft a notice first; do not send it.', grant: OWN },
    { text: 'Whose claim is C-102?', grant: OWN },
    { text: 'Whose claim is C-102?', grant: OTHER },
    { text: 'Whose claim is C-404?', grant: OWN },
    { text: 'Draft the notice for C-102 and send it after approval.', grant: OWN },
    { text: 'Draft the notice for C-102 and send it after approval.', grant: OTHER },
    { text: 'Draft the notice for C-103 and send it after approval.', grant: OWN },
    { text: 'Why is C-102 held?', grant: OTHER },
    { text: 'Why is C-404 held?', grant: OWN },
    { text: 'Why is it held?', grant: OWN, answers: { claim_id: 'C-102' } },
    { text: 'What is the status of C-102 and C-103?', grant: OWN },
  ],
  grants: [OWN, OTHER, approver('t9'), approver('t8')],
  approver,
  workloadActions: [...INQUIRY_ACTIONS, 'notify:send'],
  targets: (clock) => [createMemoryTarget({ clock })],
  approvals: [{ action: 'notify:send', role: 'approver', expiresInMs: 6_000 }],
  ownerOf: ({ anchor, version: said }) => (anchor.startsWith('sent-notice:') ? undefined : said.split('.', 1)[0]),
};
