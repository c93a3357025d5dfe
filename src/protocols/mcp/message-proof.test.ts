import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { provenText, withMeta } from './message-proof.ts';

const message = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: {
    name: 'claims.read',
    arguments: { b: 1, a: 2 },
    _meta: { other: 1, [LEASE_EXTENSION]: { lease: 'l', proof: 'p' } },
  },
} as const;

test('a proof covers the canonical message without our key, and everything else in it', () => {
  const text =
    '{"id":7,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"other":1},"arguments":{"a":2,"b":1},"name":"claims.read"}}';
  assert.equal(provenText(message), text);
  assert.equal(provenText(withMeta(message, { lease: 'another', proof: 'another' })), text);
  assert.notEqual(provenText({ ...message, id: 8 }), text);
  assert.notEqual(provenText({ ...message, params: { ...message.params, _meta: { other: 2 } } }), text);
});

test('what a client wrote under our key is replaced', () => {
  assert.deepEqual(withMeta(message, { grant: 'g1' }).params?.['_meta'], {
    other: 1,
    [LEASE_EXTENSION]: { grant: 'g1' },
  });
  assert.deepEqual(withMeta({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, undefined).params, { _meta: {} });
});
