/** A2A messages over both bindings, MCP requests, results of MCP tools, and the configuration. */
import { checkSchema } from '#kernel/schema-check.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { HeldLease } from '#ports/issuer.ts';
import type { Binding } from '#protocols/a2a/wire-error.ts';
import { checkConfig } from '#runtime/config.ts';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { systemIds } from '#runtime/system-ids.ts';
import { wireSend } from '#testing/served-team.ts';
import { a2aWorld } from '../integration/a2a-world.ts';
import { callBody, openWorld, post } from '../integration/mcp-world.ts';
import type { Door, Offered } from './doors.ts';
import { refused, TAKEN } from './http-doors.ts';

/** A send to a real team: real guard, real team supervisor, its own store. */
export async function openA2aDoor(binding: Binding): Promise<Door> {
  const world = await a2aWorld({ binding });
  const rest = binding === 'HTTP+JSON';
  const url = rest ? `${world.audience}/message:send` : world.audience;
  let openedCount = 0;
  world.store.onCommit((events) => {
    openedCount += events.filter(({ kind }) => kind === 'run.received').length;
  });
  // A lease is used up by the first send that is taken.
  let lease: HeldLease | undefined;
  const message = async (): Promise<unknown> => {
    const dispatch = world.dispatch({ dispatchId: systemIds.next('dsp') });
    lease ??= await world.work(dispatch);
    const params = { message: wireSend(dispatch, lease), configuration: { returnImmediately: true } };
    return rest ? params : { jsonrpc: '2.0', id: 7, method: 'SendMessage', params };
  };
  return {
    name: `a2a ${binding}`,
    message,
    offer: async (body) => {
      await message();
      if (lease === undefined) throw new Error('no lease');
      const headers = {
        'a2a-version': '1.0',
        'a2a-extensions': LEASE_EXTENSION,
        'content-type': 'application/json',
        authorization: `DPoP ${lease.token}`,
        dpop: lease.prove('POST', url, body),
      };
      const offered = await readA2a(await fetch(url, { method: 'POST', headers, body }));
      if (offered.taken) lease = undefined;
      return offered;
    },
    recordedCount: () => openedCount,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const RPC_INTERNAL = -32_603;

async function readA2a(response: Response): Promise<Offered> {
  const body = (await response.json()) as {
    readonly error?: { readonly code?: number; readonly message?: string; readonly status?: string };
    readonly code?: string;
    readonly detail?: string;
  };
  const broken = response.status >= 500 || body.error?.code === RPC_INTERNAL;
  if (body.error !== undefined) return refused(String(body.error.code ?? ''), body.error.message ?? '', broken);
  if (!response.ok) return refused(body.code ?? '', body.detail ?? '', broken);
  return TAKEN;
}

/** A call of a guarded tool over HTTP. */
export async function openMcpRequestDoor(): Promise<Door> {
  const world = await openWorld();
  return {
    name: 'mcp request',
    message: () => Promise.resolve(JSON.parse(callBody({ claim_id: 'C-102' }))),
    offer: async (body) => {
      const response = await post(world.url, { lease: world.lease(), body });
      const text = await response.text();
      const broken = response.status >= 500;
      const read = messageIn(text, response.headers.get('content-type') ?? '');
      const { error, result, code, detail } = read;
      if (error !== undefined) return refused(String(error.code), error.message, broken || error.code === RPC_INTERNAL);
      if (!response.ok) return refused(code ?? '', detail ?? '', broken);
      if (result?.isError === true) return refused('isError', JSON.stringify(result.content), broken);
      return TAKEN;
    },
    recordedCount: world.entered,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

interface RpcAnswer {
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: { readonly isError?: boolean; readonly content?: unknown };
  readonly code?: string;
  readonly detail?: string;
}

function messageIn(text: string, type: string): RpcAnswer {
  if (!type.startsWith('text/event-stream')) return text === '' ? {} : (JSON.parse(text) as RpcAnswer);
  const data = text.split('\n').find((line) => line.startsWith('data: '));
  return data === undefined ? {} : (JSON.parse(data.slice('data: '.length)) as RpcAnswer);
}

const ANSWER_MS_MAX = 100;
const ID = '"__id__"';

/** What a tool's server answers to a call of ours: the tool host judges it. */
export async function openMcpResultDoor(): Promise<Door> {
  let answer: Uint8Array<ArrayBuffer> = new Uint8Array();
  let real: unknown;
  const world = await openWorld({
    fetch: async (url, init) => {
      const sent = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as { readonly id?: unknown };
      if (real === undefined) {
        const response = await fetch(url, init);
        const type = response.headers.get('content-type') ?? '';
        const text = await response.text();
        real = { ...messageIn(text, type), id: '__id__' };
        return new Response(text, { status: response.status, headers: response.headers });
      }
      const body = replaced(answer, ID, JSON.stringify(sent.id ?? null));
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    },
  });
  const call = () => world.call({ claim_id: 'C-102' }, world.lease(), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  const first = await world.call({ claim_id: 'C-102' });
  if (first.outcome !== 'ok') throw new Error(`The tool answered ${first.outcome}.`);
  return {
    name: 'mcp result',
    message: () => Promise.resolve(real),
    offer: async (bytes) => {
      answer = bytes;
      const outcome = await call();
      if (outcome.outcome === 'ok') {
        const [issue] = checkSchema(world.contract.output, outcome.output);
        return issue === undefined ? TAKEN : refused('', `taken against its contract at ${issue.pointer}`, true);
      }
      const code = 'code' in outcome ? outcome.code : outcome.outcome;
      return refused(code, 'message' in outcome ? outcome.message : outcome.outcome);
    },
    recordedCount: () => 0,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Bytes that are no text are left as they are. */
function replaced(bytes: Uint8Array<ArrayBuffer>, from: string, to: string): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(bytes).toString('latin1');
  return new Uint8Array(Buffer.from(text.replace(from, to), 'latin1'));
}

const CONFIG = {
  case: './case.ts',
  directory: './data',
  host: '127.0.0.1',
  port: 8080,
  profile: 'production',
  store: { kind: 'sqlite' },
  secrets: { from: 'environment', prefix: 'CASEOPS_' },
  keys: { issuer: 'issuer-key', supervisor: 'supervisor-key', teams: { claims: 'claims-key' } },
  users: {
    issuer: 'https://login.example.org',
    audience: 'caseops',
    tenants: ['t9'],
    roles: { handler: { roles: ['requester'], purposes: ['claim-inquiry'], actions: ['claims:read'] } },
  },
  quotas: { goalsPerMinuteMax: 60, runsInFlightMax: 8 },
  admission: { runsInFlightMax: 32, queueLengthMax: 500 },
};

/** A configuration as JSON. */
export function openConfigDoor(): Door {
  return {
    name: 'configuration',
    message: () => Promise.resolve(CONFIG),
    offer: (bytes) => {
      const parsed = parseStrictJson(bytes);
      if (!parsed.ok) return Promise.resolve(refused(parsed.error.code, parsed.error.message));
      const checked = checkConfig(parsed.value);
      if (checked.ok) return Promise.resolve(TAKEN);
      const whole = checked.findings.every(({ expected, got }) => expected !== '' && got !== '');
      const said = checked.findings.map(({ message }) => message).join(' ');
      return Promise.resolve(refused(whole && said !== '' ? 'ERR_CONFIG' : '', said));
    },
    recordedCount: () => 0,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
