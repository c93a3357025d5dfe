import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentSkill, getClaim, setStatus } from '#testing/claim-desk.ts';
import { z } from 'zod';
import { type AgenticWorkerOptions, defineAgenticWorker } from './define-agentic-worker.ts';
import { defineSkill } from './define-skill.ts';

const options: AgenticWorkerOptions = {
  name: 'agent',
  model: { propose: () => Promise.reject(new Error('never asked')) },
  prompt: 'Read.',
  stepCountMax: 4,
  tokenCountMax: 100,
  repeatCountMax: 0,
};

const skillWith = (over: Partial<Pick<Parameters<typeof defineSkill>[0], 'tools' | 'budget'>>) =>
  defineSkill({
    id: 'claim-status',
    version: '1.0.0',
    description: 'Why a claim is not completed.',
    input: z.object({ claim_id: z.string() }),
    artifact: z.object({ status: z.string() }),
    requires: [{ name: 'claim_id', kind: 'claim_id' }],
    produces: [{ kind: 'claim_status', pointer: '' }],
    risk: 'read_only',
    actions: ['claims:read', 'claims:write'],
    resources: [{ type: 'claim', input: 'claim_id' }],
    purposes: ['claim_investigation'],
    tools: [getClaim],
    budget: { modelTokenCountMax: 100 },
    ...over,
  });

test('an agentic worker carries its bounds and the contracts of its skill, and is not called by hand', async () => {
  const worker = defineAgenticWorker(agentSkill, options);
  assert.equal(worker.agent?.stepCountMax, 4);
  assert.equal(worker.agent?.proposalTimeoutMs, 30_000);
  assert.deepEqual(
    worker.tools.map(({ tool }) => tool),
    ['get_claim', 'list_notes'],
  );
  await assert.rejects(worker.run({}, {} as never), { code: 'ERR_CONFIG' });
});

test('a bound that is none is refused when the worker is defined', () => {
  for (const over of [
    { stepCountMax: 1 },
    { stepCountMax: Number.POSITIVE_INFINITY },
    { tokenCountMax: 0 },
    { repeatCountMax: -1 },
    { repeatCountMax: 0.5 },
    { proposalTimeoutMs: 0 },
  ])
    assert.throws(() => defineAgenticWorker(agentSkill, { ...options, ...over }), {
      code: 'ERR_CONFIG',
      message: new RegExp(Object.keys(over)[0] ?? ''),
    });
});

test('a skill without tokens, without tools, or with a tool that writes has no agentic worker', () => {
  const refused = (skill: ReturnType<typeof skillWith>, message: RegExp): void =>
    assert.throws(() => defineAgenticWorker(skill, options), { code: 'ERR_CONFIG', message });
  refused(skillWith({ budget: { modelTokenCountMax: 0 } }), /no model tokens/);
  refused(skillWith({ tools: [] }), /no tool/);
  refused(skillWith({ tools: [getClaim, setStatus] }), /set_status changes something/);
});
