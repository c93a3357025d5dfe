import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { CONTRACT_META_KEY, DISCOVER_ACTION, MCP_METHODS, MCP_REVISION, RPC_ERRORS } from './wire.ts';

test('what the wire shows is pinned', () => {
  assert.deepEqual(
    { MCP_REVISION, MCP_METHODS, DISCOVER_ACTION, CONTRACT_META_KEY, RPC_ERRORS, LEASE_EXTENSION },
    {
      MCP_REVISION: '2026-07-28',
      MCP_METHODS: { call: 'tools/call', list: 'tools/list', discover: 'server/discover' },
      DISCOVER_ACTION: 'tool:discover',
      CONTRACT_META_KEY: 'urn:caseops:ext:tool-contract:v1',
      RPC_ERRORS: { invalidRequest: -32_600, methodNotFound: -32_601, headerMismatch: -32_020, refused: -32_001 },
      LEASE_EXTENSION: 'urn:caseops:ext:authority-lease:v1',
    },
  );
});

test('the JSON-RPC codes that we write ourselves are those of the SDK', () => {
  assert.equal(RPC_ERRORS.invalidRequest, ProtocolErrorCode.InvalidRequest);
  assert.equal(RPC_ERRORS.methodNotFound, ProtocolErrorCode.MethodNotFound);
});
