import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import {
  CallFailure,
  failureOf,
  HTTP_OUTCOMES,
  httpOutcome,
  OutputMismatch,
  RPC_OUTCOMES,
  SDK_OUTCOMES,
} from './outcome-map.ts';

const words = (
  table: Readonly<Record<string, { readonly outcome: string; readonly code?: string }>>,
): readonly string[] =>
  Object.entries(table).map(([key, { outcome, code }]) =>
    [key, outcome, ...(code === undefined ? [] : [code])].join(' '),
  );

test('the table from the SDK, JSON-RPC and HTTP to outcomes is pinned', () => {
  assert.deepEqual(words(SDK_OUTCOMES), [
    'NOT_CONNECTED tool_error ERR_SERVER_UNREACHABLE',
    'ALREADY_CONNECTED tool_error ERR_SERVER_UNREACHABLE',
    'NOT_INITIALIZED tool_error ERR_SERVER_UNREACHABLE',
    'CAPABILITY_NOT_SUPPORTED contract_violation ERR_TOOL_CONTRACT_DRIFT',
    'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION contract_violation ERR_TOOL_CONTRACT_DRIFT',
    'ERA_NEGOTIATION_FAILED contract_violation ERR_TOOL_CONTRACT_DRIFT',
    'REQUEST_TIMEOUT cancelled',
    'CONNECTION_CLOSED unknown_outcome',
    'SEND_FAILED unknown_outcome',
    'INVALID_RESULT contract_violation ERR_TOOL_OUTPUT_SCHEMA',
    'UNSUPPORTED_RESULT_TYPE contract_violation ERR_TOOL_RESULT_TYPE',
    'INPUT_REQUIRED_ROUNDS_EXCEEDED contract_violation ERR_TOOL_RESULT_TYPE',
    'LIST_PAGINATION_EXCEEDED contract_violation ERR_TOOL_CONTRACT_DRIFT',
    'CLIENT_HTTP_NOT_IMPLEMENTED unknown_outcome',
    'CLIENT_HTTP_AUTHENTICATION refused',
    'CLIENT_HTTP_FORBIDDEN refused',
    'CLIENT_HTTP_UNEXPECTED_CONTENT contract_violation ERR_TOOL_OUTPUT_SCHEMA',
    'CLIENT_HTTP_FAILED_TO_OPEN_STREAM unknown_outcome',
    'CLIENT_HTTP_FAILED_TO_TERMINATE_SESSION unknown_outcome',
  ]);
  assert.deepEqual(words(RPC_OUTCOMES), [
    '-32600 contract_violation ERR_TOOL_OUTPUT_SCHEMA',
    '-32601 contract_violation ERR_TOOL_CONTRACT_DRIFT',
    '-32602 contract_violation ERR_TOOL_CONTRACT_DRIFT',
    '-32001 refused',
    '-32020 contract_violation ERR_TOOL_CONTRACT_DRIFT',
    '-32021 contract_violation ERR_TOOL_CONTRACT_DRIFT',
    '-32022 contract_violation ERR_TOOL_CONTRACT_DRIFT',
  ]);
  assert.deepEqual(words(HTTP_OUTCOMES), ['408 unknown_outcome', '425 throttled', '429 throttled']);
});

test('every error code of the installed SDK has a row', () => {
  assert.deepEqual(Object.keys(SDK_OUTCOMES).toSorted(), Object.values(SdkErrorCode).toSorted());
});

test('a status that says the call was not performed is a refusal, one that does not is unknown', () => {
  assert.deepEqual(
    [301, 401, 403, 404, 409, 413, 429, 500, 502, 503].map((status) => httpOutcome(status, false).outcome),
    [
      'refused',
      'refused',
      'refused',
      'refused',
      'refused',
      'refused',
      'throttled',
      'unknown_outcome',
      'unknown_outcome',
      'unknown_outcome',
    ],
  );
  assert.equal(httpOutcome(503, true).outcome, 'throttled');
});

test('each kind of failure keeps its own outcome', () => {
  const revoked = { outcome: 'cancelled', reason: 'lease_revoked' } as const;
  assert.equal(failureOf(new CallFailure(revoked)), revoked);
  assert.equal(failureOf(new OutputMismatch('x')).outcome, 'contract_violation');
  const http = new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'x', { status: 404, statusText: '', text: '' });
  assert.equal(failureOf(http).outcome, 'refused');
  const task = failureOf(new SdkError(SdkErrorCode.UnsupportedResultType, 'task'));
  assert.deepEqual(task, { outcome: 'contract_violation', code: 'ERR_TOOL_RESULT_TYPE', message: 'task' });
  assert.equal(failureOf(new ProtocolError(-32_603, 'x')).outcome, 'tool_error');
  assert.equal(failureOf(new TypeError('fetch failed')).outcome, 'unknown_outcome');
});
