import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskState, taskStateToJSON } from '@a2a-js/sdk';
import { runResult } from '#contracts/step-result.ts';
import { STANDING_OF_TASK_STATE, TASK_STATE_OF_PHASE, taskStateOf } from './task-state-map.ts';

const named = (state: TaskState): string => taskStateToJSON(state).slice('TASK_STATE_'.length);

test('every run state has the A2A task state that is written down here', () => {
  const phases = Object.keys(TASK_STATE_OF_PHASE) as (keyof typeof TASK_STATE_OF_PHASE)[];
  const rows = [
    ...phases.map((phase) => [phase, named(taskStateOf({ phase, result: undefined }))]),
    ...runResult.options.map((result) => [`ended ${result}`, named(taskStateOf({ phase: 'ended', result }))]),
  ];
  assert.deepEqual(Object.fromEntries(rows), {
    received: 'SUBMITTED',
    planned: 'WORKING',
    running: 'WORKING',
    blocked: 'INPUT_REQUIRED',
    cancelling: 'WORKING',
    'ended completed': 'COMPLETED',
    'ended no_data': 'COMPLETED',
    'ended partial': 'COMPLETED',
    'ended degraded': 'COMPLETED',
    'ended failed': 'FAILED',
    'ended cancelled': 'CANCELED',
    'ended refused': 'REJECTED',
  });
});

test('a run that ended without a result is told as failed', () => {
  assert.equal(taskStateOf({ phase: 'ended', result: undefined }), TaskState.TASK_STATE_FAILED);
});

test('a client stops waiting only at a stated end', () => {
  const standings = Object.entries(STANDING_OF_TASK_STATE).map(([state, standing]) => {
    const found = Object.values(TaskState).find((value) => String(value) === state);
    return [typeof found === 'number' ? taskStateToJSON(found) : state, standing];
  });
  assert.deepEqual(Object.fromEntries(standings), {
    TASK_STATE_UNSPECIFIED: 'open',
    TASK_STATE_SUBMITTED: 'open',
    TASK_STATE_WORKING: 'open',
    TASK_STATE_COMPLETED: 'delivered',
    TASK_STATE_FAILED: 'failed',
    TASK_STATE_CANCELED: 'cancelled',
    TASK_STATE_INPUT_REQUIRED: 'waiting',
    TASK_STATE_REJECTED: 'rejected',
    TASK_STATE_AUTH_REQUIRED: 'waiting',
    UNRECOGNIZED: 'open',
  });
});
