/** The notification team: drafts notices and keeps them. Sending is another skill, a contract without a worker: the writer applies it. */
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
import { openDrafts } from './drafts.ts';
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
  produces: [
    { kind: 'notification_draft', pointer: '/draft_id' },
    { kind: 'notice_subject', pointer: '/subject' },
    { kind: 'notice_body', pointer: '/body' },
  ],
  risk: 'draft',
  actions: ['notices:draft'],
  resources: [{ type: 'claim', input: 'claim_id' }],
  datatypes: ['internal'],
  purposes: ['claim_investigation', 'claim_notification'],
  tools: [composeDraft],
  evidence: { anchorTypes: ['notice-draft'], countMin: 1 },
  timeoutMs: 2_500,
});

const sendNotice = defineSkill({
  id: 'send-notice',
  version: '1.0.0',
  description: 'Sends an approved notice to the member.',
  input: z.strictObject({ draft_id: z.string(), member_id: z.string(), subject: z.string(), body: z.string() }),
  artifact: z.strictObject({ message_id: z.string(), member_id: z.string(), received_at: z.string() }),
  requires: [
    { name: 'draft_id', kind: 'notification_draft' },
    { name: 'member_id', kind: 'member_id' },
    { name: 'subject', kind: 'notice_subject' },
    { name: 'body', kind: 'notice_body' },
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

export function team({ directory, now }: TeamContext): TeamDefinition {
  const drafts = openDrafts(directory);
  return defineTeam('notification', {
    version: '1.0.0',
    description: 'Drafts and sends notices to members.',
    workers: [draftWorker],
    contractsOnly: [sendNotice],
    mcpServers: [
      mcpServer('notice-drafts', {
        version: '1.0.0',
        tools: [
          serveTool(composeDraft, (input, { tenant }) => {
            const { claim_id, member_id } = input;
            const draft_id = `${claim_id}.missing-documents`;
            const { version, draft } = drafts.keep(tenant, { draft_id, claim_id, member_id, ...wording(input) });
            const data = { ...draft, state: 'draft' as const, template_version: TEMPLATE_VERSION };
            return [{ id: draft_id, version, tenant, observedAt: now(), data }];
          }),
        ],
      }),
    ],
    policy: ['claim_investigation', 'claim_notification'].map((purpose) => ({
      actor: SUPERVISOR_WORKLOAD,
      action: 'notices:draft',
      resourceType: 'claim',
      purpose,
      tenants: ['t8', 't9'],
    })),
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
