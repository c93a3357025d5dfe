import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pending, reading } from '#testing/claim-desk.ts';
import { errorOf, outcomeOf } from '#testing/worker-world.ts';

const refusedRecords: readonly (readonly [what: string, record: unknown, code: string])[] = [
  ['without a required field', { ...pending, data: { status: 'open' } }, 'ERR_TOOL_OUTPUT_SCHEMA'],
  ['of another tenant', { ...pending, tenant: 't8' }, 'ERR_TOOL_OUTPUT_TENANT'],
  ['that does not say its tenant', { ...pending, tenant: undefined }, 'ERR_TOOL_OUTPUT_TENANT'],
  ['without a version', { ...pending, version: undefined }, 'ERR_TOOL_OUTPUT_VERSION'],
  ['of another resource than was asked for', { ...pending, id: 'C-103' }, 'ERR_TOOL_OUTPUT_RESOURCE'],
  ['without a time of observation', { ...pending, observedAt: undefined }, 'ERR_TOOL_OUTPUT_VERSION'],
  ['observed in the future', { ...pending, observedAt: '2026-08-02T00:00:00Z' }, 'ERR_TOOL_OUTPUT_VERSION'],
  [
    'with a field that the schema does not have',
    { ...pending, data: { ...pending.data, more: 1 } },
    'ERR_TOOL_OUTPUT_SCHEMA',
  ],
];
for (const [what, record, code] of refusedRecords)
  test(`a record ${what} is refused with ${code} and reaches no worker`, async () => {
    let seen = false;
    const outcome = await outcomeOf({
      records: [record],
      run: async (input, context) => {
        const result = await reading(input, context);
        seen = true;
        return result;
      },
    });
    assert.equal(errorOf(outcome), code);
    assert.equal(seen, false);
    assert.equal(outcome.toolCalls[0]?.outcome, 'ok', 'the call itself is recorded as made');
  });

test('one record version in two forms is a contradiction', async () => {
  const other = { ...pending, data: { ...pending.data, status: 'closed' } };
  assert.equal(errorOf(await outcomeOf({ records: [pending, other] })), 'ERR_TOOL_OUTPUT_VERSION');
});

test('evidence of nobody’s call cannot be cited', async () => {
  const outcome = await outcomeOf({
    run: async (input, context) => {
      const result = await reading(input, context);
      assert(result.status === 'completed');
      const [evidence] = result.evidence;
      assert(evidence !== undefined);
      return { ...result, evidence: [{ ...evidence, evidenceId: 'ev_invented' }] };
    },
  });
  assert.equal(errorOf(outcome), 'ERR_ARTIFACT_EVIDENCE');
});

test('altered evidence is replaced by what was observed', async () => {
  const outcome = await outcomeOf({
    run: async (input, context) => {
      const result = await reading(input, context);
      assert(result.status === 'completed');
      const [evidence] = result.evidence;
      assert(evidence !== undefined);
      return { ...result, evidence: [{ ...evidence, version: 'v18' }] };
    },
  });
  assert(outcome.ok);
  assert.equal(outcome.artifact.evidence[0]?.version, 'v17');
});

test('a completed result without evidence is refused', async () => {
  const outcome = await outcomeOf({ run: async () => ({ status: 'completed', data: pending.data, evidence: [] }) });
  assert.equal(errorOf(outcome), 'ERR_ARTIFACT_EVIDENCE');
});

test('data that does not conform to the artifact is refused', async () => {
  const outcome = await outcomeOf({
    run: async (input, context) => ({ ...(await reading(input, context)), data: { status: 1 } }) as never,
  });
  assert.equal(errorOf(outcome), 'ERR_ARTIFACT_SCHEMA');
});
