import type { ApprovalRow, EffectRow, RunView, WhyView } from 'caseops';
import { serveMail } from '#effects/mail/mail-server.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Home } from './command-line.ts';

const TEXT = 'Draft the notice for C-102 and send it after approval.';
const SEND_ONCE_APPROVED = 'Draft the notice for C-102 and send it once it is approved.';
const now = (): string => '2026-07-23T09:00:00.000Z';

test(
  'a notice is drafted, waits, is approved under its digest, and reaches the member once',
  { timeout: 120_000 },
  async () => {
    await using mail = await serveMail({ now });
    const { host, port } = mail.smtp;
    using home = new Home({ CASEOPS_SMTP: `${host}:${port}`, CASEOPS_MAILBOX: mail.url });
    await using server = await home.serve();
    assert.ok(server.url !== '');
    const asked = await home.start('ask', TEXT, '-o', 'json').done;
    const waiting = JSON.parse(asked.stdout) as RunView;
    assert.equal(asked.code, 9, asked.stderr);
    assert.equal(waiting.blocked?.code, 'APPROVAL');
    assert.equal(mail.received.length, 0);

    const listed = await home.start('approvals', 'ls', '--state', 'pending', '-o', 'json').done;
    const [row] = JSON.parse(listed.stdout) as ApprovalRow[];
    assert.ok(row !== undefined);
    assert.match((await home.start('approvals', 'show', row.approvalId).done).stdout, /Digest {2}sha256:/);

    const bare = await home.start('approvals', 'approve', row.approvalId, '--yes').done;
    assert.equal(bare.code, 2);
    const self = await home.start(
      'approvals',
      'approve',
      row.approvalId,
      '--digest',
      row.proposal.actionDigest,
      '--as',
      'requester',
    ).done;
    assert.equal(self.code, 5);
    const other = await home.start(
      'approvals',
      'approve',
      row.approvalId,
      '--digest',
      `sha256:${'0'.repeat(64)}`,
      '--as',
      'approver',
    ).done;
    assert.equal(other.code, 7);
    assert.equal((await home.start('approvals', 'reject', row.approvalId).done).code, 2);
    assert.equal(mail.received.length, 0);

    const twice = await Promise.all([
      home.start(
        'approvals',
        'approve',
        row.approvalId,
        '--digest',
        row.proposal.actionDigest,
        '--as',
        'approver',
        '-o',
        'json',
      ).done,
      home.start(
        'approvals',
        'approve',
        row.approvalId,
        '--digest',
        row.proposal.actionDigest,
        '--as',
        'approver',
        '-o',
        'json',
      ).done,
    ]);
    assert.deepEqual(
      twice.map(({ code }) => code),
      [0, 0],
      twice.map(({ stderr }) => stderr).join(),
    );
    const watched = await home.start('runs', 'watch', waiting.runId, '-o', 'json').done;
    assert.equal(watched.code, 0, watched.stdout + watched.stderr);
    const run = JSON.parse((await home.start('runs', 'show', waiting.runId, '-o', 'json').done).stdout) as RunView;
    assert.equal(run.result, 'completed');
    assert.ok(run.claims.some(({ key, evidence }) => key === 'sent' && evidence[0]?.anchor.startsWith('sent-notice:')));
    assert.equal(mail.received.length, 1);
    assert.deepEqual(mail.received[0]?.envelope_to, ['member-m42@example.test']);
    const effects = JSON.parse((await home.start('effects', 'ls', '-o', 'json').done).stdout) as EffectRow[];
    assert.deepEqual(
      effects.map(({ state }) => state),
      ['completed'],
    );
  },
);

test('the first goal sends nothing, also where sending is possible', { timeout: 120_000 }, async () => {
  await using mail = await serveMail({ now });
  const { host, port } = mail.smtp;
  using home = new Home({ CASEOPS_SMTP: `${host}:${port}`, CASEOPS_MAILBOX: mail.url });
  const text =
    'Find out why C-102 has not been completed and tell me what is missing. If the customer needs to be notified, generate a notification draft first; do not send it directly.';
  const asked = await home.start('ask', text, '-o', 'json').done;
  const run = JSON.parse(asked.stdout) as RunView;
  assert.equal(run.result, 'completed', asked.stderr);
  assert.ok(run.claims.some(({ key }) => key === 'not-sent'));
  assert.equal(mail.received.length, 0);
});

test(
  'INV-04: with the mail server for development, the sentence about a sent notice leads to its approval and its effect',
  { timeout: 180_000 },
  async () => {
    using home = new Home();
    await using server = await home.serve();
    assert.ok(server.url !== '');
    const asked = await home.start('ask', SEND_ONCE_APPROVED, '-o', 'json').done;
    assert.equal(asked.code, 9, asked.stderr);
    const { runId } = JSON.parse(asked.stdout) as RunView;
    const pending = await home.start('approvals', 'ls', '--run', runId, '-o', 'json').done;
    const [row] = JSON.parse(pending.stdout) as ApprovalRow[];
    assert.ok(row);
    const decide = [
      'approvals',
      'approve',
      row.approvalId,
      '--digest',
      row.proposal.actionDigest,
      '--as',
      'approver',
      '-o',
      'json',
    ];
    const decided = await home.start(...decide).done;
    assert.equal(decided.code, 0, decided.stderr);
    const watched = await home.start('runs', 'watch', runId, '-o', 'json').done;
    const run = JSON.parse(watched.stdout) as RunView;
    assert.equal(run.result, 'completed', watched.stderr);
    const again = JSON.parse((await home.start(...decide).done).stdout) as ApprovalRow;
    assert.deepEqual([again.state, again.decisions.length], ['spent', 1]);

    const asWhy = await home.start('why', `${runId}#sent`, '-o', 'json').done;
    const [why] = JSON.parse(asWhy.stdout) as WhyView[];
    assert.ok(why?.holds === true, asWhy.stdout);
    const links = why.branches.flatMap((branch) => branch.links);
    for (const kind of ['approval', 'effect_ledger', 'lease'] as const)
      assert.ok(
        links.some((link) => link.kind === kind),
        `no ${kind} behind the sentence`,
      );
    const mailbox = readFileSync(join(home.directory, 'effects/mailbox.jsonl'), 'utf8');
    assert.equal(mailbox.trimEnd().split('\n').length, 1);
  },
);
