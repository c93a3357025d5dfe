import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { serveMail } from './mail-server.ts';

/** Says one line after the other, each after the reply to the one before; returns the connection. */
async function talk(port: number, lines: readonly string[]) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'data');
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    await once(socket, 'data');
  }
  return socket;
}

const UP_TO_DATA = ['EHLO claims.test', 'MAIL FROM:<a@insurer.example>', 'RCPT TO:<m42@example.test>', 'DATA'];

test('a sender that dies in the middle of a message leaves nothing behind, and the server takes the next one', async () => {
  await using mail = await serveMail({ now: () => '2026-07-23T09:00:00.000Z' });
  const dying = await talk(mail.smtp.port, UP_TO_DATA);
  dying.write('Message-ID: <half@claims.test>\r\n\r\nWe need');
  dying.resetAndDestroy();
  await once(dying, 'close');
  const living = await talk(mail.smtp.port, [...UP_TO_DATA, 'Message-ID: <whole@claims.test>\r\n\r\nWe need it.\r\n.']);
  living.end('QUIT\r\n');
  await once(living, 'close');
  assert.deepEqual(
    mail.received.map(({ message_id }) => message_id),
    ['<whole@claims.test>'],
  );
});
