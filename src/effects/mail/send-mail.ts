/**
 * Hands one composed message to a mail server over SMTP and says how far that came. Until the server has answered `354` to DATA, no
 * byte of the message has left; from then on only the server's last reply settles it. Source: RFC 5321 §4.2.5, §6.1.
 */
import type { Clock } from '#ports/clock.ts';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { Readable } from 'node:stream';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS is used when it is offered. */
  readonly secure?: boolean;
  /** Refuses a server without TLS. */
  readonly requireTls?: boolean;
  readonly auth?: () => { readonly user: string; readonly pass: string };
}

export interface MailEnvelope {
  readonly from: string;
  readonly to: string;
  readonly content: Uint8Array;
}

export type MailOutcome =
  /** The server took responsibility for it. */
  | { readonly sent: 'yes'; readonly response: string }
  /** Certainly not. `retryable`: not for good. */
  | { readonly sent: 'no'; readonly reason: string; readonly retryable: boolean }
  | { readonly sent: 'unknown'; readonly reason: string };

export interface SendOptions {
  readonly server: SmtpServer;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** Never rejects. The connection is closed when it returns. */
export function sendMail(options: SendOptions, mail: MailEnvelope, signal: AbortSignal): Promise<MailOutcome> {
  if (signal.aborted) return Promise.resolve({ sent: 'no', reason: 'the attempt was aborted', retryable: true });
  const { server, timeoutMs, clock } = options;
  const connection = new SMTPConnection({
    host: server.host,
    port: server.port,
    secure: server.secure ?? false,
    requireTLS: server.requireTls ?? false,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  const content = watched(mail.content);
  return new Promise((resolve) => {
    // Closing tells of itself as an end of the connection: what is resolved first stands.
    const end = (outcome: MailOutcome): void => {
      resolve(outcome);
      disarm();
      signal.removeEventListener('abort', onAbort);
      connection.close();
    };
    const fail = (error: unknown): void => end(failed(error, content.started()));
    const onAbort = (): void => fail(new Error('the attempt was aborted'));
    const disarm = clock.at(clock.nowMs() + timeoutMs, () => fail(new Error('the server did not answer in time')));
    signal.addEventListener('abort', onAbort, { once: true });
    connection.on('error', fail);
    connection.once('end', () => fail(new Error('the server closed the connection')));
    const send = (): void =>
      connection.send({ from: mail.from, to: [mail.to] }, content.stream, (error, info) =>
        error !== null || info === undefined ? fail(error) : end({ sent: 'yes', response: info.response }),
      );
    connection.connect((error) => {
      if (error !== undefined) return fail(error);
      if (server.auth === undefined) return send();
      connection.login(server.auth(), (refusal) => (refusal === null ? send() : fail(refusal)));
    });
  });
}

/** The content as a stream that knows whether anybody has begun to read it. */
function watched(content: Uint8Array): { readonly stream: Readable; readonly started: () => boolean } {
  let started = false;
  const stream = new Readable({
    read() {
      started = true;
      this.push(content);
      this.push(null);
    },
  });
  return { stream, started: () => started };
}

function failed(error: unknown, contentStarted: boolean): MailOutcome {
  const reason = error instanceof Error ? firstLine(error.message) : 'unknown failure';
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : undefined;
  const permanent = code !== undefined && code >= 500;
  if (!contentStarted) return { sent: 'no', reason, retryable: !permanent };
  // A negative reply to the content says that the server does not take it on; 421 says only that the server is going away.
  if (code !== undefined && code >= 400 && code !== 421) return { sent: 'no', reason, retryable: !permanent };
  return { sent: 'unknown', reason };
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}
