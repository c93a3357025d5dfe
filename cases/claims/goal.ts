/** The goals this case understands: why a claim is not completed, where several claims stand, and having a member told. */
import type { GoalKind } from 'caseops';

const CLAIM_ENTITY_PATTERN = '(?<![A-Za-z0-9])C-\\d{1,6}(?![0-9])';

const SENDING = {
  action: 'notify:send',
  phrases: {
    en: ['\\b(send|sent|sending|notify|notified|notifying|contact|contacted|contacting|e-?mail|mail|message|deliver)'],
    ja: ['送', '通知', '連絡', '配信', '発信', 'メール'],
  },
};
const UPDATING = {
  action: 'claims:update',
  phrases: {
    en: ['\\b(update|updating|change|changing|modify|edit|alter|close|closing|reopen|approve|reject)'],
    ja: ['更新', '変更', '修正', '承認', '却下', '編集'],
  },
};

export const claimInvestigation: GoalKind = {
  kind: 'claim_investigation',
  version: '1.0.0',
  purpose: 'claim_investigation',
  subject: { type: 'claim', entity: 'claim_id' },
  recognise: {
    en: [
      [
        '\\bwhy\\b|\\bcause\\b|\\breason\\b|\\bmissing\\b|\\bfind out\\b|\\binvestigate\\b|\\bblock(s|ed|ing)?\\b|\\bhold(s|ing)?\\b|\\bstuck\\b',
      ],
    ],
    ja: [['なぜ|理由|原因|不足|足りない|調べ|調査|止ま|滞']],
  },
  entities: [
    {
      kind: 'claim_id',
      pattern: CLAIM_ENTITY_PATTERN,
      cardinality: 'one',
      question: {
        en: 'Which claim is meant? Give one claim number such as C-102.',
        ja: 'どの請求のことですか。C-102 のような請求番号を一つ指定してください。',
      },
    },
  ],
  outputs: [
    { kind: 'cause', required: true },
    { kind: 'missing_documents', required: true },
    { kind: 'next_action', required: false },
    {
      kind: 'notification_draft',
      required: false,
      when: {
        en: ['\\bdraft', '\\bnotif', '\\bnotice\\b', '\\bletter\\b'],
        ja: ['下書き', '草案', '案文', '通知', '案内'],
      },
    },
  ],
  prohibitions: [SENDING, UPDATING],
  alwaysProhibitedActions: ['claims:update', 'notify:send'],
  constraints: ['evidence-required', 'no-claim-update', 'notification-not-sent'],
  claims: [
    {
      key: 'holder',
      kind: 'fact',
      output: 'member_id',
      sentence: { en: 'Claim {claim} belongs to member {member}.', ja: '請求 {claim} は会員 {member} のものです。' },
      slots: {
        claim: { anchorType: 'member', pointer: '/claim_id', format: 'identifier' },
        member: { anchorType: 'member', pointer: '/member_id', format: 'identifier' },
      },
      impact: { en: 'It is not known whose claim this is.', ja: '誰の請求か分かりません。' },
    },
    {
      key: 'status',
      kind: 'fact',
      output: 'cause',
      sentence: {
        en: 'Claim {claim} has the status {status}, last changed {updated}.',
        ja: '請求 {claim} の状態は {status} です（最終更新 {updated}）。',
      },
      slots: {
        claim: { anchorType: 'claim', pointer: '/claim_id', format: 'identifier' },
        status: { anchorType: 'claim', pointer: '/status', format: 'code' },
        updated: { anchorType: 'claim', pointer: '/updated_at', format: 'date' },
      },
      impact: { en: 'The status of the claim is not known.', ja: '請求の状態が分かりません。' },
    },
    {
      key: 'missing',
      kind: 'fact',
      output: 'missing_documents',
      sentence: {
        en: 'Still missing for claim {claim}: {documents}.',
        ja: '請求 {claim} に不足している書類：{documents}。',
      },
      slots: {
        claim: { anchorType: 'claim-documents', pointer: '/claim_id', format: 'identifier' },
        documents: { anchorType: 'claim-documents', pointer: '/missing', format: 'list' },
      },
      impact: { en: 'No missing document can be named.', ja: '不足している書類を挙げられません。' },
    },
    {
      key: 'reason',
      kind: 'fact',
      output: 'next_action',
      sentence: {
        en: 'Why this holds the claim, in the words of rule {rule}: {reason}',
        ja: 'これが手続きを止める理由（規則 {rule} の原文）：{reason}',
      },
      slots: {
        rule: { anchorType: 'policy-rule', pointer: '/rule_id', format: 'identifier' },
        reason: { anchorType: 'policy-rule', pointer: '/blocks_because', format: 'quote' },
      },
      impact: { en: 'Why the status holds the claim is not explained.', ja: '手続きが止まる理由を説明できません。' },
    },
    {
      key: 'next',
      kind: 'fact',
      output: 'next_action',
      sentence: {
        en: 'What happens next, in the words of rule {rule}: {next}',
        ja: '次に行われること（規則 {rule} の原文）：{next}',
      },
      slots: {
        rule: { anchorType: 'policy-rule', pointer: '/rule_id', format: 'identifier' },
        next: { anchorType: 'policy-rule', pointer: '/next_step', format: 'quote' },
      },
      impact: { en: 'What happens next is not known.', ja: '次の手順が分かりません。' },
    },
    {
      key: 'draft',
      kind: 'fact',
      output: 'notification_draft',
      sentence: {
        en: 'A notice to member {member} has been drafted and has the state {state}: {subject} {body}',
        ja: '会員 {member} への通知文を作成しました（状態：{state}）：{subject} {body}',
      },
      slots: {
        member: { anchorType: 'notice-draft', pointer: '/member_id', format: 'identifier' },
        state: { anchorType: 'notice-draft', pointer: '/state', format: 'code' },
        subject: { anchorType: 'notice-draft', pointer: '/subject', format: 'quote' },
        body: { anchorType: 'notice-draft', pointer: '/body', format: 'quote' },
      },
      impact: { en: 'No notice has been drafted.', ja: '通知文は作成されていません。' },
    },
    {
      key: 'not-sent',
      kind: 'absence',
      absentAction: 'notify:send',
      sentence: {
        en: 'Nothing was sent: sending was forbidden, no lease allowed it, and the effect ledger has no row for it.',
        ja: '何も送信されていません：送信は禁止され、それを許すリースはなく、効果台帳にも記録がありません。',
      },
      slots: {},
      impact: { en: 'It is not shown that nothing was sent.', ja: '何も送信されていないことを示せません。' },
    },
  ],
  budget: {
    stepCountMax: 6,
    modelTokenCountMax: 12_000,
    toolCallCountMax: 8,
    concurrencyMax: 4,
    deadlineMs: 9_000,
    replanCountMax: 2,
  },
  observationAgeMsMax: 60_000,
};

const template = (key: string) => {
  const found = claimInvestigation.claims.find((claim) => claim.key === key);
  if (found === undefined) throw new Error(`no claim template ${key}`);
  return found;
};

export const claimPortfolio: GoalKind = {
  kind: 'claim_portfolio',
  version: '1.0.0',
  purpose: 'claim_portfolio',
  subject: { type: 'claim', entity: 'claim_id' },
  recognise: {
    en: [['\\bstatus(es)?\\b|\\bwhere\\b|\\bportfolio\\b|\\boverview\\b', 'C-\\d+[\\s\\S]*C-\\d+']],
    ja: [['状態|状況|一覧', 'C-\\d+[\\s\\S]*C-\\d+']],
  },
  entities: [
    {
      kind: 'claim_id',
      pattern: CLAIM_ENTITY_PATTERN,
      cardinality: 'several',
      question: {
        en: 'Which claims are meant? Give claim numbers such as C-102, C-103.',
        ja: 'どの請求のことですか。請求番号を指定してください。',
      },
    },
  ],
  outputs: [
    { kind: 'cause', required: true, forEach: 'claim_id' },
    { kind: 'missing_documents', required: true, forEach: 'claim_id' },
  ],
  prohibitions: [SENDING, UPDATING],
  alwaysProhibitedActions: ['claims:update', 'notify:send'],
  constraints: ['evidence-required', 'no-claim-update', 'notification-not-sent'],
  claims: [template('status'), template('missing'), template('not-sent')],
  budget: {
    stepCountMax: 12,
    modelTokenCountMax: 0,
    toolCallCountMax: 24,
    concurrencyMax: 6,
    deadlineMs: 9_000,
    replanCountMax: 2,
  },
  observationAgeMsMax: 60_000,
};

/** Draft a notice and send it once somebody has approved exactly that notice. */
export const claimNotification: GoalKind = {
  ...claimInvestigation,
  kind: 'claim_notification',
  purpose: 'claim_notification',
  recognise: {
    en: [['\\bsend\\b|\\bnotify\\b|\\bmail\\b', '\\bapprov']],
    ja: [['送|通知', '承認']],
  },
  outputs: [
    { kind: 'cause', required: true },
    { kind: 'missing_documents', required: true },
    { kind: 'notification_draft', required: true },
    { kind: 'notification_sent', required: true },
  ],
  prohibitions: [SENDING, UPDATING],
  alwaysProhibitedActions: ['claims:update'],
  constraints: ['evidence-required', 'no-claim-update', 'approval-before-sending'],
  claims: [
    template('status'),
    template('missing'),
    template('draft'),
    {
      key: 'sent',
      kind: 'fact',
      output: 'notification_sent',
      sentence: {
        en: 'The approved notice was sent to member {member}, and the mail server shows it as {message}.',
        ja: '承認された通知は会員 {member} へ送信され、メールサーバーは {message} として示しています。',
      },
      slots: {
        member: { anchorType: 'sent-notice', pointer: '/member_id', format: 'identifier' },
        message: { anchorType: 'sent-notice', pointer: '/message_id', format: 'text' },
      },
      impact: { en: 'No notice was sent.', ja: '通知は送信されていません。' },
    },
  ],
};
