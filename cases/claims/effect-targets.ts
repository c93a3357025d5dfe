/**
 * What the claims case can apply: an approved notice, sent once by SMTP. Without a mail server in the environment nothing is offered, and
 * sending stays a contract. `CASEOPS_SMTP=host:port`, `CASEOPS_MAILBOX=http://…` (where the receiving side shows what it was given).
 */
import type { EffectContext, EffectTargetFactory } from 'caseops';
import { createHttpMailbox, createOutboxTarget, type EffectTarget } from 'caseops/effects';
import { join } from 'node:path';
import { readDraft } from './notification/drafts.ts';

/** Where members get their notices: recipients come from here and nowhere else. */
const ADDRESSES: Readonly<Record<string, string>> = {
  't9 m42': 'member-m42@example.test',
  't8 m77': 'member-m77@example.test',
};
const MAILBOX_TIMEOUT_MS = 5_000;

export const effectTargets: EffectTargetFactory = (context) => {
  const { CASEOPS_SMTP: smtp, CASEOPS_MAILBOX: mailbox } = process.env;
  return smtp === undefined || mailbox === undefined ? [] : [noticeOutbox(context, { smtp, mailbox })];
};

function noticeOutbox(
  { directory, teamDirectory, clock, use }: EffectContext,
  at: { readonly smtp: string; readonly mailbox: string },
): EffectTarget {
  const server = new URL(`smtp://${at.smtp}`);
  const target = createOutboxTarget({
    path: join(directory, 'outbox.db'),
    smtp: { host: server.hostname, port: Number(server.port) },
    from: 'Claims <notices@insurer.example>',
    directory: (tenant, member) => ADDRESSES[`${tenant} ${member}`],
    record: async (resource, tenant) => {
      const kept = readDraft(teamDirectory('notification'), tenant, resource.slice('notice-draft:'.length));
      return kept === undefined
        ? { version: null, record: null }
        : {
            version: kept.version,
            record: { to: kept.draft.member_id, subject: kept.draft.subject, body: kept.draft.body },
          };
    },
    mailbox: createHttpMailbox({ url: at.mailbox, timeoutMs: MAILBOX_TIMEOUT_MS, clock }),
    clock,
  });
  const outbox = use(target);
  return { ...outbox, validate: (parameters) => outbox.validate(recipientOf(parameters)) };
}

/** The skill names the draft as its resource and the member as such; the outbox takes a recipient and the text. */
function recipientOf(parameters: unknown): unknown {
  if (typeof parameters !== 'object' || parameters === null) return parameters;
  const { draft_id: _resource, member_id: to, ...rest } = parameters as Readonly<Record<string, unknown>>;
  return { ...rest, to };
}
