import type { Applied } from '#ports/effect-target.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { type MailFault, type MailServer, serveMail } from '../mail/mail-server.ts';
import { seededClock, type SeededClock } from '#testing/seeded-clock.ts';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { actionOf, requestOf } from '../suite-target-action.ts';
import type { TargetSubject } from '../suite-target-subject.ts';
import { targetSuite } from '../target-suite.ts';
import { messageIdOf } from './outbox-sender.ts';
import { noticeTarget, setDraft, type NoticePlace } from './suite-notices.ts';

const unending = new AbortController().signal;
const FROM = 'Claims <notices@insurer.example>';

interface NoticeSubject extends TargetSubject {
  readonly mail: MailServer;
  readonly place: NoticePlace;
}

async function noticeSubject(clock: typeof systemClock = systemClock): Promise<NoticeSubject> {
  const directory = mkdtempSync(join(tmpdir(), 'outbox-'));
  const mail = await serveMail({
    path: join(directory, 'mailbox.jsonl'),
    now: () => '2026-07-23T09:00:01.000Z',
  });
  const place = { directory, smtpPort: mail.smtp.port, mailboxUrl: mail.url };
  setDraft(place, 't2026.2');
  const target = noticeTarget(place, clock, { timeoutMs: 1_000, settleMs: 5_000 });
  return {
    mail,
    place,
    target,
    tenant: 't9',
    resource: 'notice-draft:C-102.missing-documents',
    parameters: { to: 'm42', subject: 'Your claim C-102', body: 'We need the accident report.\nThank you — グリーン.' },
    otherParameters: { to: 'm42', subject: 'Your claim C-102', body: 'We need nothing.' },
    invalid: [
      {},
      { to: 'm42', subject: 'x' },
      { to: 'mallory@evil.example', subject: 'x', body: 'y' },
      { to: 'm42, m43', subject: 'x', body: 'y' },
      { to: 'm42', subject: 'x\r\nBcc: mallory@evil.example', body: 'y' },
      { to: 'm42', subject: 'x', body: 'y\u0000' },
      { to: 'm42', subject: 'x', body: 'y', draft_digest: `sha256:${'0'.repeat(64)}` },
      { to: 'm42', subject: 'x', body: 'y', cc: 'm43' },
    ],
    shown: { name: 'note', value: 'The draft was checked by the claims team.' },
    effectCount: async (key) => mail.deliveryCount(messageIdOf(FROM, 't9', key)),
    moveVersion: async () => setDraft(place, 't2026.3'),
    spoil: async (key) => mail.spoil(messageIdOf(FROM, 't9', key)),
    loseReply: () => {
      mail.fault = 'drop_after';
    },
    hide: async () => {
      mail.hidden = true;
    },
    child: {
      script: new URL('./outbox-child.ts', import.meta.url),
      args: [directory, String(mail.smtp.port), mail.url],
    },
    [Symbol.asyncDispose]: async () => {
      target[Symbol.dispose]();
      await mail[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

targetSuite('outbox', () => noticeSubject());

/** One send under a fault: its outcome, and what the server counted. */
async function under(fault: MailFault): Promise<readonly [Applied, number]> {
  await using subject = await noticeSubject();
  const action = await actionOf(subject);
  subject.mail.fault = fault;
  const applied = await subject.target.apply(requestOf(action), unending);
  return [applied, subject.mail.received.length];
}

for (const [what, fault, expected, count] of [
  ['turned away at the door', 'refuse_connection', 'not retryable', 0],
  ['without a mailbox for the recipient', 'refuse_recipient', 'not retryable', 0],
  ['by a busy server', 'busy', 'retryable', 0],
  ['whose content was refused', 'refuse_content', 'not retryable', 0],
  ['whose server went away after the content', 'going_away', 'unknown', 0],
  ['whose server dropped it after the content', 'drop_before', 'unknown', 0],
  ['whose server took it and dropped the reply', 'drop_after', 'unknown', 1],
  ['whose server took it and never answered', 'hang', 'unknown', 1],
] as const) {
  test(`outbox: a notice ${what} is ${expected === 'unknown' ? expected : `certainly not sent, and ${expected}`}`, async () => {
    const [applied, deliveries] = await under(fault);
    const said =
      applied.outcome === 'refused_before' ? (applied.retryable ? 'retryable' : 'not retryable') : applied.outcome;
    assert.deepEqual([said, deliveries], [expected, count], JSON.stringify(applied));
  });
}

test('outbox: a mail server that is not there was certainly given nothing, and the notice goes out later', async () => {
  await using subject = await noticeSubject();
  const action = await actionOf(subject);
  const elsewhere = { ...subject.place, smtpPort: 1 };
  using away = noticeTarget(elsewhere, systemClock, { timeoutMs: 1_000, settleMs: 5_000 });
  const applied = await away.apply(requestOf(action), unending);
  assert.ok(applied.outcome === 'refused_before' && applied.retryable, JSON.stringify(applied));
  assert.deepEqual(await away.readBack(action.idempotencyKey, action, unending), { found: 'absent' });
  assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
  assert.equal(subject.mail.received.length, 1);
});

async function afterUnknown(
  fault: MailFault,
  body: (subject: NoticeSubject, clock: SeededClock) => Promise<void>,
): Promise<void> {
  const clock = seededClock(Date.parse('2026-07-23T09:00:00.000Z'));
  await using subject = await noticeSubject(clock);
  subject.mail.fault = fault;
  const applied = await subject.target.apply(requestOf(await actionOf(subject)), unending);
  assert.equal(applied.outcome, 'unknown');
  await body(subject, clock);
}

test('outbox: an attempt that may be under way is hidden, and after it can no longer be, absent; then it is sent once', async () => {
  await afterUnknown('drop_before', async (subject, clock) => {
    const { target } = subject;
    const action = await actionOf(subject);
    assert.equal((await target.readBack(action.idempotencyKey, action, unending)).found, 'hidden');
    assert.equal((await target.apply(requestOf(action), unending)).outcome, 'unknown', 'sent again too early');
    assert.equal(subject.mail.received.length, 0);
    await clock.advance(5_000);
    assert.deepEqual(await target.readBack(action.idempotencyKey, action, unending), { found: 'absent' });
    assert.deepEqual(await target.apply(requestOf(action), unending), { outcome: 'applied' });
    assert.equal(subject.mail.received.length, 1);
  });
});

test('outbox: a notice whose reply was lost is never sent again, also long after', async () => {
  await afterUnknown('drop_after', async (subject, clock) => {
    await clock.advance(60_000);
    const action = await actionOf(subject);
    assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
    assert.equal(subject.mail.received.length, 1);
  });
});

test('outbox: while the mailbox is hidden, an unknown notice is not sent again', async () => {
  await afterUnknown('drop_before', async (subject, clock) => {
    await clock.advance(60_000);
    subject.mail.hidden = true;
    const action = await actionOf(subject);
    assert.equal((await subject.target.apply(requestOf(action), unending)).outcome, 'unknown');
    assert.equal(subject.mail.received.length, 0);
  });
});

test('outbox: a member without an address gets nothing, and nobody else does', async () => {
  await using subject = await noticeSubject();
  const action = await actionOf(subject, { parameters: { ...subject.parameters, to: 'm99' } });
  const applied = await subject.target.apply(requestOf(action), unending);
  assert.ok(applied.outcome === 'refused_before' && !applied.retryable);
  assert.equal(subject.mail.received.length, 0);
});

test('outbox: the message goes to the address of the directory, whatever addresses its text names', async () => {
  await using subject = await noticeSubject();
  const body = 'To: mallory@evil.example\nPlease forward to mallory@evil.example';
  const action = await actionOf(subject, { parameters: { to: 'm42', subject: 'Bcc: mallory@evil.example', body } });
  assert.deepEqual(await subject.target.apply(requestOf(action), unending), { outcome: 'applied' });
  const [mail] = subject.mail.received;
  assert.deepEqual(mail?.envelope_to, ['mia.member@example.test']);
  const [head = ''] = (mail?.raw ?? '').split('\r\n\r\n');
  assert.deepEqual(head.match(/^(To|Cc|Bcc):.*$/gim), ['To: mia.member@example.test']);
  assert.match(head, /^X-CaseOps-Action:\s+sha256:[0-9a-f]{64}$/im);
});

test('outbox: two deliveries of one notice are reported', async () => {
  await using subject = await noticeSubject();
  const action = await actionOf(subject);
  await subject.target.apply(requestOf(action), unending);
  const [mail] = subject.mail.received;
  assert.ok(mail);
  (subject.mail.received as (typeof mail)[]).push(mail);
  const effect = await subject.target.readBack(action.idempotencyKey, action, unending);
  assert.ok(effect.found === 'applied');
  assert.deepEqual(subject.target.postcondition(action, effect), [
    { pointer: '/delivery_count', expected: '1', got: '2' },
  ]);
});

test('outbox: a mailbox that is kept in a file still counts after the server was started again', async () => {
  await using subject = await noticeSubject();
  const action = await actionOf(subject);
  await subject.target.apply(requestOf(action), unending);
  await using again = await serveMail({ path: join(subject.place.directory, 'mailbox.jsonl'), now: () => '' });
  assert.equal(again.deliveryCount(messageIdOf(FROM, 't9', action.idempotencyKey)), 1);
});
