// The owner of the effects: a real HTTP service that counts what was applied, keeps a version, and can drop its reply after applying.
import { createServer } from 'node:http';
import { once } from 'node:events';

/** Starts an owner on a free loopback port. */
export async function startOwner() {
  const applied = [];
  let version = 17;
  let dropReplies = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'GET') {
      response.end(JSON.stringify({ version }));
      return;
    }
    applied.push({ body: JSON.parse(Buffer.concat(chunks).toString()), version });
    if (dropReplies > 0) {
      dropReplies -= 1;
      request.socket.destroy();
      return;
    }
    response.end(JSON.stringify({ ok: true }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/notices`,
    applied,
    moveVersion: () => (version += 1),
    dropNextReplies: (count) => (dropReplies = count),
    reset: () => {
      applied.length = 0;
      version = 17;
      dropReplies = 0;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The tool as an application would write it: one POST, and an error when there is no answer. */
export async function postNotice(url, notice) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(notice),
  });
  if (!response.ok) throw new Error(`the owner answered ${response.status}`);
  return response.json();
}
