/** Effect targets and inboxes that a deployment can be given. Apart from the rest: each brings its own dependency. */
export type {
  Applied,
  AppliedEffect,
  ApplyRequest,
  EffectParameters,
  EffectTarget,
  LiveRecord,
  PostconditionFinding,
  ReadBack,
} from '#ports/effect-target.ts';
export type { Clock } from '#ports/clock.ts';
export type { Inbox, InboxNotice } from '#ports/inbox.ts';
export { serveMail, type MailServer, type MailServerOptions } from '#effects/mail/mail-server.ts';
export { createFlagFileTarget, type FlagFileTargetOptions } from '#effects/targets/flag-file-target.ts';
export { createHttpTarget, type HttpEffect, type HttpTargetOptions } from '#effects/targets/http-target.ts';
export { createHttpMailbox, type HttpMailboxOptions, type Mailbox } from '#effects/targets/mailbox.ts';
export { createOutboxTarget, draftDigestOf } from '#effects/targets/outbox-target.ts';
export type { OutboxTargetOptions } from '#effects/targets/outbox-options.ts';
export type { SqlSession } from '#effects/targets/sql-session.ts';
export type { SqlTable } from '#effects/targets/sql-statements.ts';
export { createSqlTarget, type SqlTargetOptions } from '#effects/targets/sql-target.ts';
export { createSqliteSession } from '#effects/targets/sqlite-session.ts';
export { createSmtpInbox, type SmtpInboxOptions } from '#effects/inbox/smtp-inbox.ts';
export { createWebhookInbox, isWebhookGenuine, type WebhookInboxOptions } from '#effects/inbox/webhook-inbox.ts';
export { systemClock } from './runtime/system-clock.ts';
