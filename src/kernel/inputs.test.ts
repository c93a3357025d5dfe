import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InputSource, PlanStep } from '#contracts/plan.ts';
import type { SkillContract } from '#contracts/skill.ts';
import { digestOf } from './digest.ts';
import { type ResolvedInputs, resolveInputs } from './inputs.ts';
import { skillOf, stepOf } from './trial-contracts.test.ts';
import { plannedTrial } from './trial-run.test.ts';

const goal = (pointer: string): InputSource => ({ from: 'goal', pointer });
const upstream = (pointer: string): InputSource => ({ from: 'step', stepId: 's1', pointer });

/** The input of s2, which depends on s1; s1 is delivered with `{ value: 'pending' }` unless it found nothing. */
function inputOf(
  inputs: PlanStep['inputs'],
  by: { readonly resources?: SkillContract['resources']; readonly found?: boolean } = {},
): ResolvedInputs {
  const trial = plannedTrial({
    steps: [stepOf('s1'), stepOf('s2', ['~s1'], { inputs })],
    skills: [skillOf({ resources: by.resources ?? [], requires: [] })],
  });
  const { found = true } = by;
  trial.append({
    kind: 'step.settled',
    body: {
      result: {
        stepId: 's1',
        planVersion: 1,
        attempt: 1,
        status: found ? 'completed' : 'no_data',
        ...(found ? { data: { value: 'pending', ids: ['C-1', 'C-1', 'C-2'] } } : {}),
        evidence: [],
        missing: [],
        errors: [],
        usage: { toolCallCount: 0, modelTokenCount: 0, durationMs: 0 },
        producer: 'tester',
        contractVersion: '1.0.0',
        resultHash: digestOf('result'),
      },
      toolCalls: [],
    },
  });
  return resolveInputs(trial.state, 's2');
}

function refusal(resolved: ResolvedInputs): string {
  assert.ok(!resolved.ok);
  assert.equal(resolved.error.code, 'ERR_INPUT_UNMAPPED');
  return resolved.error.message;
}

test('inputs are read from the goal and from settled results, and digested', () => {
  const resolved = inputOf({ claim_id: goal('/entities/claim_id'), status: upstream('/value') });
  assert.ok(resolved.ok);
  assert.deepEqual(resolved.input, { claim_id: 'C-102', status: 'pending' });
  assert.equal(resolved.inputDigest, digestOf({ claim_id: 'C-102', status: 'pending' }));
  assert.deepEqual(resolved.resources, []);
});

test('the resources are those that the inputs name, each once', () => {
  const resources = [
    { type: 'claim', input: 'claim_id' },
    { type: 'claim', input: 'others' },
  ];
  const resolved = inputOf({ claim_id: goal('/entities/claim_id'), others: upstream('/ids') }, { resources });
  assert.deepEqual(resolved.ok && resolved.resources, ['claim:C-102', 'claim:C-1', 'claim:C-2']);
});

test('an input that is not where the plan points is named', () => {
  assert.match(refusal(inputOf({ member: goal('/entities/member_id') })), /member .*goal \/entities\/member_id/);
  assert.match(refusal(inputOf({ status: upstream('/nothing') })), /step s1 \/nothing/);
  assert.match(refusal(inputOf({ all: upstream('') }, { found: false })), /all of step s2/);
});

test('an input that should name a resource and does not is refused', () => {
  const resources = [{ type: 'claim', input: 'claim_id' }];
  assert.match(refusal(inputOf({}, { resources })), /must name a claim/);
  assert.match(refusal(inputOf({ claim_id: goal('/budget/deadlineMs') }, { resources })), /must name a claim/);
  assert.match(
    refusal(inputOf({ claim_id: goal('/subject/ids') }, { resources: [{ type: 'claim', input: 'x' }] })),
    /x/,
  );
});

test('a step that the plan does not have has no input', () => {
  const trial = plannedTrial({ steps: [stepOf('s1')] });
  assert.match(refusal(resolveInputs(trial.state, 's9')), /no step s9/);
});
