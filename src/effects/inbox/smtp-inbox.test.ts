import { systemClock } from '#runtime/system-clock.ts';
import { serveMail, type MailServer } from '../mail/mail-server.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSmtpInbox } from './smtp-inbox.ts';
import { NOTICE } from './suite-notice.ts';

const unending = new AbortController().signal;
const HOLDERS: Readonly<Record<string, readonly string[]>> = {
  't9/approver': ['ada@insurer.example', 'bo@insurer.example'],
};

const inboxOf = ({ smtp }: MailServer) =>
  createSmtpInbox({
    smtp,
    from: 'CaseOps <no-reply@insurer.example>',
    holders: (tenant, role) => HOLDERS[`${tenant}/${role}`] ?? [],
    clock: systemClock,
    timeoutMs: 1_000,
    backoffMs: 1,
  });

const serve = () => serveMail({ now: () => '2026-07-23T09:00:00.000Z' });
const bodyOf = (raw: string): string => {
  const [head = '', body = ''] = raw.split('\r\n\r\n');
  return /^Content-Transfer-Encoding: base64/im.test(head) ? Buffer.from(body, 'base64').toString('utf8') : body;
};

test('each holder of the role gets one mail with the link, and is told that answering decides nothing', async () => {
  await using mail = await serve();
  await inboxOf(mail).notify(NOTICE, unending);
  assert.deepEqual(
    mail.received.map(({ envelope_to }) => envelope_to),
    [['ada@insurer.example'], ['bo@insurer.example']],
  );
  assert.equal(new Set(mail.received.map(({ message_id }) => message_id)).size, 2);
  for (const { raw } of mail.received) {
    assert.match(raw, /^Auto-Submitted: auto-generated/im);
    assert.match(raw, /^From: CaseOps <no-reply@insurer.example>/im);
    const body = bodyOf(raw);
    for (const part of [NOTICE.url, NOTICE.approvalId, NOTICE.actionDigest, NOTICE.title, 'decides nothing'])
      assert.ok(body.includes(part ?? '?'), `${part} is not in: ${body}`);
  }
});

test('a mail whose reply was lost is sent again under the same Message-ID', async () => {
  await using mail = await serve();
  mail.fault = 'drop_after';
  await inboxOf(mail).notify(NOTICE, unending);
  const [first, second] = mail.received;
  assert.equal(mail.received.length, 3);
  assert.equal(first?.message_id, second?.message_id);
});

test('a recipient that is refused is reported, and the other one is told', async () => {
  await using mail = await serve();
  mail.fault = 'refuse_recipient';
  await assert.rejects(inboxOf(mail).notify(NOTICE, unending), {
    code: 'ERR_SERVER_UNREACHABLE',
    message: /^1 of 2 mails of notice apv_7\.requested were not taken/,
  });
  assert.deepEqual(
    mail.received.map(({ envelope_to }) => envelope_to),
    [['bo@insurer.example']],
  );
});

test('a role that nobody holds is said', async () => {
  await using mail = await serve();
  await assert.rejects(inboxOf(mail).notify({ ...NOTICE, tenant: 't8' }, unending), { code: 'ERR_CONFIG' });
  assert.equal(mail.received.length, 0);
});

test('a title that would break a header or hide text stays one line', async () => {
  await using mail = await serve();
  await inboxOf(mail).notify({ ...NOTICE, title: 'Send\r\nBcc: mallory@evil.example\u202e now' }, unending);
  const [head = ''] = (mail.received[0]?.raw ?? '').split('\r\n\r\n');
  assert.match(head, /^Subject: To approve: Send Bcc: mallory@evil.example now$/m);
  assert.equal(/^Bcc:/im.test(head), false);
});

test('a closed approval is told as closed', async () => {
  await using mail = await serve();
  await inboxOf(mail).notify({ ...NOTICE, occasion: 'closed', url: undefined }, unending);
  const raw = mail.received[0]?.raw ?? '';
  assert.match(raw, /^Subject: Closed: /m);
  assert.match(bodyOf(raw), /nothing left to decide/);
  assert.match(bodyOf(raw), /caseops approvals show apv_7/);
});
