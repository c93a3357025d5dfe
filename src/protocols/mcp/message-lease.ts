/** The client's side of a message transport: each request carries its call's lease and a proof in its metadata. Source: SEAMS §1. */
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Transport,
} from '@modelcontextprotocol/client';
import { CALL_HEADER, type LeasedCall } from './link.ts';
import { messageLease, provenText, withMeta } from './message-proof.ts';
import { CallFailure } from './outcome-map.ts';
import { wrapTransport } from './wrap-transport.ts';

export interface MessageLeaseOptions {
  readonly calls: ReadonlyMap<string, LeasedCall>;
  /** The server's audience name, which proofs name as their target. */
  readonly audience: string;
}

/** Decorates a transport. A request without a call's handle is not sent; it fails with CallFailure. */
export function leaseTransport(inner: Transport, { calls, audience }: MessageLeaseOptions): Transport {
  return wrapTransport(inner, {
    send: async (message, options) => {
      if (!isJSONRPCRequest(message)) return inner.send(message, options);
      const call = calls.get(options?.headers?.[CALL_HEADER] ?? '');
      const signed = call && signedMessage(message, call, audience);
      if (!signed) throw new CallFailure(NOT_LEASED);
      call.sent = true;
      return inner.send(signed, options);
    },
  });
}

function signedMessage(message: JSONRPCRequest, { lease }: LeasedCall, audience: string): JSONRPCMessage | undefined {
  const text = provenText(message);
  if (text === undefined) return undefined;
  const proof = lease.prove(message.method, audience, text);
  return withMeta(message, messageLease.parse({ lease: lease.token, proof }));
}

const NOT_LEASED = {
  outcome: 'refused',
  code: 'no_lease',
  boundary: 'mcp',
  message: 'No lease is bound to this request, so it was not sent.',
} as const;
