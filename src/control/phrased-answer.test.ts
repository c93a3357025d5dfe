/** A fluent model at the answer: taken where it only phrases, refused with a reason of its own where it does more. INV-03, INV-14. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '#contracts/answer.ts';
import type { Claim } from '#contracts/claim.ts';
import type { RunEvent } from '#contracts/event.ts';
import type { EvidenceId } from '#contracts/ids.ts';
import type { RunView } from '#contracts/run-view.ts';
import type { Phraser } from '#ports/model.ts';
import { FOREIGN_GRANT, type InquiryWorld, inquiryWorld } from '#testing/inquiry-world.ts';

type Said = { -readonly [K in keyof Claim]: Claim[K] };

/** Says the status sentence as the script wants, and all others as they are. */
function scripted(script: { edit: (claim: Said) => unknown }): Phraser {
  return {
    phrase: (answer) => {
      const copy: Answer = structuredClone<Answer>(answer);
      for (const claim of copy.claims) if (claim.key === 'status') script.edit(claim);
      return Promise.resolve(copy);
    },
  };
}

/** The template, and the text that its slots give. */
function say(claim: Said, template: string): void {
  claim.template = template;
  claim.text = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => claim.slots[name]?.value ?? '');
}

/** Moves every slot to another record, as if it had been seen there. */
function cite(claim: Said, evidenceId: EvidenceId): void {
  claim.evidenceIds = [evidenceId];
  claim.slots = Object.fromEntries(
    Object.entries(claim.slots).map(([name, slot]) => [name, 'formula' in slot ? slot : { ...slot, evidenceId }]),
  );
}

async function refusals(world: InquiryWorld, view: RunView): Promise<readonly string[]> {
  const events: readonly RunEvent[] = await world.store.events({ tenant: 't9', runId: view.runId }, 0, 500);
  return events.flatMap((event) => (event.kind === 'answer.refused' ? [event.body.error.code] : []));
}

async function evidenceOfRun(world: InquiryWorld, view: RunView): Promise<EvidenceId> {
  const { tenant, runId } = view;
  const events: readonly RunEvent[] = await world.store.events({ tenant, runId }, 0, 500);
  const accepted = events.find((event) => event.kind === 'artifact.accepted' && event.body.stepId === 's2');
  const [evidence] = accepted?.kind === 'artifact.accepted' ? accepted.body.evidence : [];
  assert.ok(evidence !== undefined, 'the run read a claim');
  return evidence.evidenceId;
}

const statusOf = (view: RunView): string | undefined => view.claims.find(({ key }) => key === 'status')?.text;
const PLAIN = 'Claim C-102 has the status pending_documents.';

test('a fluent model phrases around the slots, and its words are the answer', async () => {
  const script = { edit: (claim: Said) => say(claim, 'At the moment, {claim} stands at {status}.') };
  await using world = await inquiryWorld({ phraser: scripted(script) });
  const view = await world.ask();
  assert.equal(view.result, 'completed');
  assert.equal(statusOf(view), 'At the moment, C-102 stands at pending_documents.');
  assert.deepEqual(await refusals(world, view), []);
});

test('what a fluent model makes up is refused with five reasons, and the run answers in the words of the goal', async () => {
  const script: { edit: (claim: Said) => unknown } = { edit: () => undefined };
  await using world = await inquiryWorld({ phraser: scripted(script) });
  const othersId = await evidenceOfRun(world, await world.ask(undefined, FOREIGN_GRANT));
  const earlierId = await evidenceOfRun(world, await world.ask());
  const cases: readonly (readonly [fault: string, edit: (claim: Said) => unknown, code: string])[] = [
    [
      'without evidence',
      (claim) => {
        claim.evidenceIds = [];
        claim.slots = {};
        say(claim, 'The claim is doing fine.');
      },
      'ERR_CLAIM_NO_EVIDENCE',
    ],
    ['an unknown id', (claim) => cite(claim, 'ev_invented'), 'ERR_CLAIM_UNKNOWN_EVIDENCE'],
    ["another tenant's id", (claim) => cite(claim, othersId), 'ERR_CLAIM_FOREIGN_TENANT'],
    ["another task's id", (claim) => cite(claim, earlierId), 'ERR_CLAIM_FOREIGN_TASK'],
    [
      'a fact outside its slots',
      (claim) => say(claim, 'Claim {claim} has the status {status} and is worth 128000 CNY.'),
      'ERR_CLAIM_FREE_FACT',
    ],
  ];
  const reasons = new Set<string>();
  for (const [fault, edit, code] of cases) {
    script.edit = edit;
    const view = await world.ask();
    const [first] = await refusals(world, view);
    assert.equal(first, code, fault);
    reasons.add(first);
    assert.deepEqual([view.result, statusOf(view)], ['completed', PLAIN], fault);
  }
  assert.equal(reasons.size, 5);
});

test('a model that drops a sentence, returns nonsense, fails or never answers changes nothing', async () => {
  const phrasers: readonly Phraser[] = [
    { phrase: (answer) => Promise.resolve({ ...answer, claims: answer.claims.slice(1) }) },
    { phrase: () => Promise.resolve('The claim is doing fine.') },
    { phrase: () => Promise.reject(new Error('503')) },
    { phrase: () => new Promise(() => undefined) },
  ];
  for (const phraser of phrasers) {
    await using world = await inquiryWorld({ phraser });
    const view = await world.ask();
    assert.deepEqual([view.result, statusOf(view), view.claims.length], ['completed', PLAIN, 5]);
  }
});
