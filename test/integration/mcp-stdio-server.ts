/** The claims tools as a child process over standard input and output; dies when asked for claim C-die. */
import { serveMcpStdio } from '#protocols/mcp/message-server.ts';
import { systemClock } from '#runtime/system-clock.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { answerClaim, BODY_BYTES_MAX, claimsServer, guardedServer } from './mcp-world.ts';

const store = openSqliteStore({ path: ':memory:', clock: systemClock });
const server = claimsServer((args, caller) =>
  args.claim_id === 'C-die' ? process.exit(1) : answerClaim(args, caller),
);
serveMcpStdio({ ...guardedServer('stdio:claims-records', server, store), messageBytesMax: BODY_BYTES_MAX });
