/**
 * What the claims case can apply: an approved notice, sent once by SMTP. `CASEOPS_SMTP=host:port` and `CASEOPS_MAILBOX=http://…` (where the
 * receiving side shows what it was given) name the mail server. Without them a mail server for development runs here: it keeps what it is
 * given in the writer's folder and delivers to nobody. It needs the package `smtp-server`; without that, sending stays a contract.
 */
import type { EffectContext, EffectTargetFactory } from 'caseops';
import { createHttpMailbox, createOutboxTarget, serveMail, type EffectTarget } from 'caseops/effects';
import { join } from 'node:path';
import { readDraft } from './notification/drafts.ts';

/** Where members get their notices: recipients come from here and nowhere else. */
const ADDRESSES: Readonly<Record<string, string>> = {
  't9 m42': 'member-m42@example.test',
  't9 m57': 'member-m57@example.test',
  't9 m61': 'member-m61@example.test',
  't8 m90': 'member-m90@example.test',
};
const MAILBOX_TIMEOUT_MS = 5_000;

export const effectTargets: EffectTargetFactory = async (context) => {
  const at = configured() ?? (await development(context));
  return at === undefined ? [] : [noticeOutbox(context, at)];
};

interface MailPlace {
  /** `host:port` */
  readonly smtp: string;
  readonly mailbox: string;
}

function configured(): MailPlace | undefined {
  const { CASEOPS_SMTP: smtp, CASEOPS_MAILBOX: mailbox } = process.env;
  return smtp === undefined || mailbox === undefined ? undefined : { smtp, mailbox };
}

async function development({ directory, clock, use }: EffectContext): Promise<MailPlace | undefined> {
  if (!hasMailServer()) return undefined;
  const mail = use(await serveMail({ path: join(directory, 'mailbox.jsonl'), now: () => clock.now() }));
  return { smtp: `${mail.smtp.host}:${mail.smtp.port}`, mailbox: mail.url };
}

function hasMailServer(): boolean {
  try {
    import.meta.resolve('smtp-server');
    return true;
  } catch {
    return false;
  }
}

function noticeOutbox({ directory, teamDirectory, clock, use }: EffectContext, at: MailPlace): EffectTarget {
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
