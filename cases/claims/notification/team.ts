/** The notification team: drafts notices. Sending is another skill, risky, and so far a contract without a worker. */
import {
  defineSkill,
  defineTeam,
  defineWorker,
  mcpServer,
  serveTool,
  SUPERVISOR_WORKLOAD,
  type TeamContext,
  type TeamDefinition,
} from 'caseops';
import { z } from 'zod';
import { composeDraft } from './tools.ts';

const TEMPLATE_VERSION = '2026.2';

const draftNotice = defineSkill({
  id: 'draft-notice',
  version: '1.0.0',
  description: 'Drafts a notice to the member about what a claim lacks. Sends nothing.',
  input: z.strictObject({
    claim_id: z.string(),
    member_id: z.string(),
    missing_documents: z.array(z.string()),
    next_action: z.string(),
  }),
  artifact: z.strictObject({ draft_id: z.string(), state: z.literal('draft'), subject: z.string(), body: z.string() }),
  requires: [
    { name: 'claim_id', kind: 'claim_id' },
    { name: 'member_id', kind: 'member_id' },
    { name: 'missing_documents', kind: 'missing_documents' },
    { name: 'next_action', kind: 'next_action' },
  ],
  produces: [{ kind: 'notification_draft', pointer: '/draft_id' }],
  risk: 'draft',
  actions: ['notices:draft'],
  resources: [{ type: 'claim', input: 'claim_id' }],
  datatypes: ['internal'],
  purposes: ['claim_investigation'],
  tools: [composeDraft],
  evidence: { anchorTypes: ['notice-draft'], countMin: 1 },
  timeoutMs: 2_500,
});

const sendNotice = defineSkill({
  id: 'send-notice',
  version: '1.0.0',
  description: 'Sends an approved notice to the member.',
  input: z.strictObject({ draft_id: z.string(), member_id: z.string() }),
  artifact: z.strictObject({ message_id: z.string() }),
  requires: [
    { name: 'draft_id', kind: 'notification_draft' },
    { name: 'member_id', kind: 'member_id' },
  ],
  produces: [{ kind: 'notification_sent', pointer: '/message_id' }],
  risk: 'effect',
  actions: ['notify:send'],
  effectActions: ['notify:send'],
  resources: [{ type: 'notice-draft', input: 'draft_id' }],
  datatypes: ['internal'],
  purposes: ['claim_notification'],
  tools: [],
  evidence: { anchorTypes: ['sent-notice'], countMin: 1 },
  approval: 'person',
  timeoutMs: 10_000,
});

const draftWorker = defineWorker(draftNotice, {
  name: 'draft-worker',
  async run(input, context) {
    const [draft] = await context.call(composeDraft, { ...input, language: context.language });
    if (draft === undefined) return { status: 'no_data', evidence: [], missing: ['no template for this notice'] };
    const { draft_id, state, subject, body } = draft.record;
    return { status: 'completed', data: { draft_id, state, subject, body }, evidence: [draft.evidence] };
  },
});

export function team({ now }: TeamContext): TeamDefinition {
  return defineTeam('notification', {
    version: '1.0.0',
    description: 'Drafts and sends notices to members.',
    workers: [draftWorker],
    contractsOnly: [sendNotice],
    mcpServers: [
      mcpServer('notice-drafts', {
        version: '1.0.0',
        tools: [
          serveTool(composeDraft, (input, { tenant }) => [
            {
              id: `${input.claim_id}.missing-documents`,
              version: `t${TEMPLATE_VERSION}`,
              tenant,
              observedAt: now(),
              data: {
                draft_id: `${input.claim_id}.missing-documents`,
                claim_id: input.claim_id,
                member_id: input.member_id,
                ...wording(input),
                state: 'draft' as const,
                template_version: TEMPLATE_VERSION,
              },
            },
          ]),
        ],
      }),
    ],
    policy: [
      {
        actor: SUPERVISOR_WORKLOAD,
        action: 'notices:draft',
        resourceType: 'claim',
        purpose: 'claim_investigation',
        tenants: ['t8', 't9'],
      },
    ],
  });
}

interface NoticeInput {
  readonly claim_id: string;
  readonly missing_documents: readonly string[];
  readonly next_action: string;
  readonly language: string;
}

function wording({ claim_id, missing_documents, next_action, language }: NoticeInput): {
  readonly subject: string;
  readonly body: string;
} {
  const list = missing_documents.join(', ');
  if (language === 'ja') {
    return {
      subject: `保険金請求 ${claim_id} について：書類のご提出のお願い`,
      body: `請求 ${claim_id} の手続きに必要な書類がまだ届いておりません：${list}。ご提出をお願いいたします。${next_action}`,
    };
  }
  return {
    subject: `Your claim ${claim_id}: we need a document from you`,
    body: `We have not received the following for your claim ${claim_id}: ${list}. Please send it to us. ${next_action}`,
  };
}
