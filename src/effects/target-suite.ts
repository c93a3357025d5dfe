/**
 * An effect target's promises, one test each; every target runs this suite against its real owner. Source: DESIGN §3.10,
 * `ports/effect-target.ts`; INV-12.
 */
import { effectAction } from '#contracts/effect-action.ts';
import { digestOfBytes } from '#kernel/digest.ts';
import type { AppliedEffect, ReadBack } from '#ports/effect-target.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionOf, bytesOf, requestOf } from './suite-target-action.ts';
import { applyAndDie, applyElsewhere } from './suite-target-process.ts';
import type { TargetSubject } from './suite-target-subject.ts';

const CONCURRENT_COUNT = 20;
const unending = new AbortController().signal;

/** Registers the suite's tests under `name`. */
export function targetSuite(name: string, subject: () => Promise<TargetSubject>): void {
  const at = (title: string, body: (subject: TargetSubject) => Promise<void>): void => {
    test(`${name}: ${title}`, async () => {
      await using place = await subject();
      await body(place);
    });
  };
  parameterTests(at);
  applyTests(at);
  readBackTests(at);
  lossTests(at);
  raceTests(at);
}

type At = (title: string, body: (subject: TargetSubject) => Promise<void>) => void;

function shown(readBack: ReadBack): AppliedEffect {
  assert.equal(readBack.found, 'applied', 'message' in readBack ? readBack.message : '');
  assert.ok('reference' in readBack);
  return readBack;
}

function parameterTests(at: At): void {
  at('parameters that do not conform are refused with where and why, and nothing happens', async (subject) => {
    assert.ok(subject.invalid.length > 0);
    for (const parameters of [...subject.invalid, null, [], 'text', { ...subject.parameters, unheard_of: 1 }]) {
      const parsed = subject.target.validate(parameters);
      assert.ok(!parsed.ok, `accepted: ${JSON.stringify(parameters)}`);
      assert.ok(parsed.issues.length > 0);
      for (const issue of parsed.issues) assert.ok(issue.message.length > 0);
    }
    assert.equal(await subject.effectCount((await actionOf(subject)).idempotencyKey), 0);
  });

  at('validation gives the same canonical parameters again, and they make a canonical action', async (subject) => {
    const once = subject.target.validate(subject.parameters);
    assert.ok(once.ok);
    assert.deepEqual(subject.target.validate(once.value), once);
    const action = await actionOf(subject);
    assert.deepEqual(effectAction.parse(action), action);
  });

  at('what is only shown changes neither the action nor its digest; what is applied changes both', async (subject) => {
    const { name, value } = subject.shown;
    assert.ok(subject.target.presentational.includes(name));
    const plain = bytesOf(await actionOf(subject));
    const shownToo = await actionOf(subject, { parameters: { ...subject.parameters, [name]: value } });
    assert.equal(digestOfBytes(bytesOf(shownToo)), digestOfBytes(plain));
    const other = await actionOf(subject, { parameters: subject.otherParameters });
    assert.notEqual(digestOfBytes(bytesOf(other)), digestOfBytes(plain));
  });
}

function applyTests(at: At): void {
  at('an action is applied once, and the owner shows it', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    assert.deepEqual(await target.apply(requestOf(action), unending), { outcome: 'applied' });
    assert.equal(await subject.effectCount(action.idempotencyKey), 1);
    const effect = shown(await target.readBack(action.idempotencyKey, action, unending));
    assert.ok(effect.reference.length > 0 && effect.reference.length <= 256);
    assert.deepEqual(target.postcondition(action, effect), []);
  });

  at('the same key again, from another run as well, is the first effect and its first record', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    await target.apply(requestOf(action), unending);
    const first = await target.readBack(action.idempotencyKey, action, unending);
    const again = { ...action, runId: 'run_again' as const };
    assert.deepEqual(await target.apply(requestOf(again), unending), { outcome: 'applied' });
    assert.deepEqual(await target.readBack(action.idempotencyKey, again, unending), first);
    assert.equal(await subject.effectCount(action.idempotencyKey), 1);
  });

  at('a key that was used for something else is refused, and the first effect stands', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    await target.apply(requestOf(action), unending);
    const { idempotencyKey } = action;
    const other = await actionOf(subject, { parameters: subject.otherParameters, idempotencyKey });
    const refused = await target.apply(requestOf(other), unending);
    assert.equal(refused.outcome, 'refused_before');
    assert.ok(refused.outcome === 'refused_before' && !refused.retryable);
    assert.equal(await subject.effectCount(idempotencyKey), 1);
    assert.deepEqual(target.postcondition(action, shown(await target.readBack(idempotencyKey, action, unending))), []);
  });

  at('a resource that has moved since is not written', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    await subject.moveVersion();
    const live = await target.read(subject.resource, subject.tenant, unending);
    assert.notEqual(live.version, action.expectedVersion);
    const applied = await target.apply(requestOf(action), unending);
    assert.equal(applied.outcome, 'precondition_failed');
    assert.ok(applied.outcome === 'precondition_failed' && applied.currentVersion === live.version);
    assert.equal(await subject.effectCount(action.idempotencyKey), 0);
    assert.deepEqual(await target.read(subject.resource, subject.tenant, unending), live);
  });

  at('a resource that exists is not written by an action that is to create it', async (subject) => {
    const action = await actionOf(subject, { expectedVersion: null });
    const applied = await subject.target.apply(requestOf(action), unending);
    assert.equal(applied.outcome, 'precondition_failed');
    assert.equal(await subject.effectCount(action.idempotencyKey), 0);
  });

  at("another tenant's resource does not exist, and is not written", async (subject) => {
    const { target, resource } = subject;
    assert.deepEqual(await target.read(resource, 'tenant-other', unending), { version: null, record: null });
    const action = { ...(await actionOf(subject)), tenant: 'tenant-other' };
    const applied = await target.apply(requestOf(action), unending);
    assert.ok(['precondition_failed', 'refused_before'].includes(applied.outcome), applied.outcome);
    assert.equal(await subject.effectCount(action.idempotencyKey), 0);
  });
}

function readBackTests(at: At): void {
  at('an effect that never was is absent, and the target says whether that is final', async (subject) => {
    const action = await actionOf(subject);
    const { target } = subject;
    assert.deepEqual(await target.readBack(action.idempotencyKey, action, unending), { found: 'absent' });
    assert.equal(typeof target.authoritativeAbsence, 'boolean');
  });

  at('an owner that cannot be asked hides the effect; it is not taken for absent', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    await target.apply(requestOf(action), unending);
    await subject.hide();
    assert.equal((await target.readBack(action.idempotencyKey, action, unending)).found, 'hidden');
  });

  at('an effect that is not as approved is reported, field by field', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    await target.apply(requestOf(action), unending);
    await subject.spoil(action.idempotencyKey);
    const effect = shown(await target.readBack(action.idempotencyKey, action, unending));
    const findings = target.postcondition(action, effect);
    assert.ok(findings.length > 0, 'nothing was reported');
    for (const { expected, got } of findings) assert.notEqual(expected, got);
  });
}

function lossTests(at: At): void {
  at('a process that dies between the effect and its reply leaves one effect, which is found', async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    await applyAndDie(subject, action);
    const effect = shown(await target.readBack(action.idempotencyKey, action, unending));
    assert.deepEqual(target.postcondition(action, effect), []);
    assert.equal((await target.apply(requestOf(action), unending)).outcome, 'applied');
    assert.equal(await subject.effectCount(action.idempotencyKey), 1);
  });

  at('a reply that is lost after the effect is unknown, and the owner knows', async (subject) => {
    const { target, loseReply } = subject;
    const action = await actionOf(subject);
    loseReply?.();
    const applied = await target.apply(requestOf(action), unending);
    assert.equal(applied.outcome, loseReply === undefined ? 'applied' : 'unknown');
    shown(await target.readBack(action.idempotencyKey, action, unending));
    assert.equal((await target.apply(requestOf(action), unending)).outcome, 'applied');
    assert.equal(await subject.effectCount(action.idempotencyKey), 1);
  });
}

function raceTests(at: At): void {
  at(`${CONCURRENT_COUNT} calls at once under one key are one effect`, async (subject) => {
    const { target } = subject;
    const action = await actionOf(subject);
    const outcomes = await Promise.all(
      Array.from({ length: CONCURRENT_COUNT }, () => target.apply(requestOf(action), unending)),
    );
    assert.ok(outcomes.some(({ outcome }) => outcome === 'applied'));
    assert.deepEqual(
      outcomes.filter(({ outcome }) => outcome !== 'applied' && outcome !== 'unknown'),
      [],
    );
    assert.equal(await subject.effectCount(action.idempotencyKey), 1);
    shown(await target.readBack(action.idempotencyKey, action, unending));
  });

  at('two processes under one key are one effect', async (subject) => {
    const action = await actionOf(subject);
    const outcomes = await Promise.all([applyElsewhere(subject, action), applyElsewhere(subject, action)]);
    assert.ok(outcomes.some(({ outcome }) => outcome === 'applied'));
    assert.equal(await subject.effectCount(action.idempotencyKey), 1);
  });

  at('of two processes that write one version under two keys, one does', async (subject) => {
    if (subject.target.precondition === 'none') return;
    const one = await actionOf(subject);
    const other = await actionOf(subject, { parameters: subject.otherParameters, idempotencyKey: 'another/key' });
    const outcomes = await Promise.all([applyElsewhere(subject, one), applyElsewhere(subject, other)]);
    assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), ['applied', 'precondition_failed']);
    const counts = [await subject.effectCount(one.idempotencyKey), await subject.effectCount('another/key')] as const;
    assert.equal(counts[0] + counts[1], 1);
  });
}
