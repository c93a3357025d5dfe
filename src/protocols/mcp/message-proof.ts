/**
 * What a proof covers where messages are seen and not bytes (stdio, in-memory): the RFC 8785 form of the message without our metadata
 * key; `htm` is the method, `htu` the audience name. Source: CONTRACTS "Lease details".
 */
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** What stands under our key in a message's metadata on its way to the server. */
export const messageLease = z.strictObject({ lease: z.string().max(16_384), proof: z.string().max(8_192) });

/** The text that the proof covers; undefined for a message that has no canonical form. */
export function provenText(message: JSONRPCRequest): string | undefined {
  return canonicalText(withMeta(message, undefined));
}

/** The message with `value` under our key, or without the key. Whatever stood there before is gone. */
export function withMeta(message: JSONRPCRequest, value: object | undefined): JSONRPCRequest {
  const { [LEASE_EXTENSION]: before, ...others } = message.params?.['_meta'] ?? {};
  void before;
  const meta = value === undefined ? others : { ...others, [LEASE_EXTENSION]: value };
  return { ...message, params: { ...message.params, _meta: meta } };
}
