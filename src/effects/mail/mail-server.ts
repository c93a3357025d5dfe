/**
 * A mail server on a free port that takes what it is given, counts by Message-ID, and shows its mailbox over HTTP. It deduplicates
 * nothing: a notice that was sent twice is there twice. For development, the demonstration, drills and tests; it delivers to nobody.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';

/** Each is used up by one message. */
export type MailFault =
  /** Turned away at the door. */
  | 'refuse_connection'
  /** `550`: no such mailbox. */
  | 'refuse_recipient'
  /** `450`: not now. */
  | 'busy'
  /** `554` after the content. */
  | 'refuse_content'
  /** `421` after the content, which was not taken. */
  | 'going_away'
  /** Takes the message and drops the connection without a reply. */
  | 'drop_after'
  /** Reads the message, takes nothing, drops the connection. */
  | 'drop_before'
  /** Takes the message and never answers. */
  | 'hang';

export interface ReceivedMail {
  readonly message_id: string;
  readonly received_at: string;
  readonly envelope_to: readonly string[];
  readonly content_digest: string;
  readonly raw: string;
}

export interface MailServer extends AsyncDisposable {
  readonly smtp: { readonly host: string; readonly port: number };
  /** Of the mailbox: `GET <url>/messages/<message id>`, `GET <url>/messages`. */
  readonly url: string;
  fault: MailFault | undefined;
  /** While true, the mailbox answers nothing. */
  hidden: boolean;
  readonly received: readonly ReceivedMail[];
  deliveryCount(messageId: string): number;
  /** Shows the message with other content than came. */
  spoil(messageId: string): void;
}

export interface MailServerOptions {
  /** JSON lines: a server that is started again still has them. Undefined: in memory. */
  readonly path?: string;
  /** RFC 3339. */
  readonly now: () => string;
  /** Of SMTP; default a free one. */
  readonly port?: number;
}

interface World {
  fault: MailFault | undefined;
  hidden: boolean;
  readonly received: ReceivedMail[];
  readonly sockets: Set<Socket>;
  readonly options: MailServerOptions;
}

/** Listens on 127.0.0.1. Needs the package `smtp-server`: ERR_CONFIG without it. */
export async function serveMail(options: MailServerOptions): Promise<MailServer> {
  const world: World = {
    fault: undefined,
    hidden: false,
    received: earlier(options.path),
    sockets: new Set(),
    options,
  };
  const smtp = await smtpServer(world);
  // A connection that breaks off is its sender's affair; whether the server listens is told by `listen`.
  smtp.on('error', () => undefined);
  smtp.server.on('connection', (socket: Socket) => {
    world.sockets.add(socket);
    socket.once('close', () => world.sockets.delete(socket));
  });
  const http = createServer((request, response) => show(world, request.url ?? '', response));
  const smtpPort = await listen(smtp.server, options.port ?? 0);
  const httpPort = await listen(http, 0);
  return {
    smtp: { host: '127.0.0.1', port: smtpPort },
    url: `http://127.0.0.1:${httpPort}`,
    received: world.received,
    get fault() {
      return world.fault;
    },
    set fault(fault) {
      world.fault = fault;
    },
    get hidden() {
      return world.hidden;
    },
    set hidden(hidden) {
      world.hidden = hidden;
    },
    deliveryCount: (id) => world.received.filter(({ message_id }) => message_id === id).length,
    spoil: (id) => {
      world.received.forEach((mail, at) => {
        if (mail.message_id === id) world.received[at] = { ...mail, content_digest: digestOfBytes('another content') };
      });
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of world.sockets) socket.destroy();
      http.closeAllConnections();
      await Promise.all([close(smtp.server), close(http)]);
    },
  };
}

function earlier(path: string | undefined): ReceivedMail[] {
  if (path === undefined || !existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as ReceivedMail);
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, refuse) => {
    server.once('error', refuse);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', refuse);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

function reject(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

async function smtpServer(world: World): Promise<SMTPServer> {
  const { SMTPServer } = await loadSmtpServer();
  const uses = (...faults: readonly MailFault[]): MailFault | undefined => {
    const { fault } = world;
    if (fault === undefined || !faults.includes(fault)) return undefined;
    world.fault = undefined;
    return fault;
  };
  return new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onConnect: (_, done) =>
      done(uses('refuse_connection') === undefined ? undefined : reject(554, 'No service for you')),
    onRcptTo: (_, __, done) => {
      const fault = uses('refuse_recipient', 'busy');
      if (fault === undefined) done();
      else done(fault === 'busy' ? reject(450, 'Try again later') : reject(550, 'No such mailbox'));
    },
    onData: (stream, session, done) => void receive(world, { stream, session }, done),
  });
}

/** An optional peer: whoever sends through a real mail server does not have it. */
async function loadSmtpServer() {
  try {
    return await import('smtp-server');
  } catch (cause) {
    throw new CaseOpsError('ERR_CONFIG', 'The mail server for development needs the package smtp-server; add it.', {
      at: 'effects',
      cause,
    });
  }
}

interface Incoming {
  readonly stream: SMTPServerDataStream;
  readonly session: SMTPServerSession;
}

async function receive(
  world: World,
  incoming: Incoming,
  done: (error: Error | null, message?: string) => void,
): Promise<void> {
  const fault = await take(world, incoming);
  if (fault === 'refuse_content') done(reject(554, 'Content refused'));
  else if (fault === 'going_away') done(reject(421, 'Going away'));
  else if (fault === 'cut_off') return;
  else if (fault === 'drop_after' || fault === 'drop_before') for (const socket of world.sockets) socket.destroy();
  else if (fault !== 'hang') done(null, 'Taken');
}

/** Undefined when the connection closed before the end of the message. */
function wholeOf(stream: SMTPServerDataStream): Promise<Buffer | undefined> {
  return buffer(stream).catch(() => undefined);
}

const NOT_TAKEN: readonly (MailFault | undefined)[] = ['refuse_content', 'going_away', 'drop_before'];

async function take(world: World, { stream, session }: Incoming): Promise<MailFault | 'cut_off' | undefined> {
  const content = await wholeOf(stream);
  // Whoever sent it is gone in the middle of the message: nothing was taken, and nobody waits for a reply.
  if (content === undefined) return 'cut_off';
  const { fault } = world;
  world.fault = undefined;
  if (NOT_TAKEN.includes(fault)) return fault;
  const raw = content.toString('utf8');
  const mail: ReceivedMail = {
    message_id: /^Message-ID:\s*(<[^>]+>)/im.exec(raw)?.[1] ?? '',
    received_at: world.options.now(),
    envelope_to: session.envelope.rcptTo.map(({ address }) => address),
    content_digest: digestOfBytes(content),
    raw,
  };
  if (world.options.path !== undefined)
    appendFileSync(world.options.path, `${JSON.stringify(mail)}\n`, { flush: true });
  world.received.push(mail);
  return fault;
}

function show(world: World, path: string, response: ServerResponse): void {
  const [, collection, id] = path.split('/').map(decodeURIComponent);
  const mails = world.received.filter(({ message_id }) => id === undefined || message_id === id);
  const [first] = mails;
  if (world.hidden) response.writeHead(503).end();
  else if (collection !== 'messages' || (id !== undefined && first === undefined)) response.writeHead(404).end();
  else {
    const shown = id === undefined ? mails : { ...first, delivery_count: mails.length };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown));
  }
}
