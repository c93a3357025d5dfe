/** Started by the outbox's tests with its folder, the mail server's port and its mailbox: sends one notice in a process of its own. */
import { systemClock } from '#runtime/system-clock.ts';
import { runTargetChild } from '../suite-target-process.ts';
import { noticeTarget } from './suite-notices.ts';

const [, , directory = '', smtpPort = '', mailboxUrl = ''] = process.argv;
const place = { directory, smtpPort: Number(smtpPort), mailboxUrl };
await runTargetChild(noticeTarget(place, systemClock, { timeoutMs: 2_000, settleMs: 4_000 }));
