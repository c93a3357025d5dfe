/** A notice that rests on a draft in a file: what the outbox's tests and its child process send. */
import type { Clock } from '#ports/clock.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpMailbox } from './mailbox.ts';
import { createOutboxTarget } from './outbox-target.ts';

export interface NoticePlace {
  readonly directory: string;
  readonly smtpPort: number;
  readonly mailboxUrl: string;
}

export const ADDRESSES: Readonly<Record<string, string>> = { m42: 'mia.member@example.test', m43: 'max@example.test' };

const draftPath = ({ directory }: NoticePlace): string => join(directory, 'draft-version');

export function setDraft(place: NoticePlace, version: string): void {
  writeFileSync(draftPath(place), version);
}

export function noticeTarget(place: NoticePlace, clock: Clock, timing: { timeoutMs: number; settleMs: number }) {
  return createOutboxTarget({
    path: join(place.directory, 'outbox.db'),
    smtp: { host: '127.0.0.1', port: place.smtpPort },
    from: 'Claims <notices@insurer.example>',
    directory: (tenant, member) => (tenant === 't9' ? ADDRESSES[member] : undefined),
    record: async (resource, tenant) =>
      tenant === 't9' && resource === 'notice-draft:C-102.missing-documents'
        ? { version: readFileSync(draftPath(place), 'utf8'), record: { draft_id: 'C-102.missing-documents' } }
        : { version: null, record: null },
    mailbox: createHttpMailbox({ url: place.mailboxUrl, timeoutMs: timing.timeoutMs, clock }),
    clock,
    ...timing,
  });
}
