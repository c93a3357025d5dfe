/** What holds for a governed tool with an effect, whatever the framework: each framework's test runs these on its real package. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CaseOpsError, governedEffect, type GovernedEffect, type GovernedEffectOptions } from 'caseops';
import { systemClock } from '#runtime/system-clock.ts';

/** Somebody's outbox, which sends as often as it is told to. */
export interface Outbox {
  readonly sent: { readonly id: string; readonly key: string; readonly claim_id: string }[];
  /** The reply of the next send is lost. */
  losesReply: boolean;
  send(args: { readonly claim_id: string; readonly key?: string | undefined }): Promise<{ id: string }>;
}

export function openOutbox(): Outbox {
  const outbox: Outbox = {
    sent: [],
    losesReply: false,
    send: async ({ claim_id, key = '' }) => {
      const id = `m-${outbox.sent.length + 1}`;
      outbox.sent.push({ id, key, claim_id });
      if (!outbox.losesReply) return { id };
      outbox.losesReply = false;
      throw new Error('socket hang up');
    },
  };
  return outbox;
}

export interface EffectSubject<T extends object> {
  /** The tool as a program has it: it sends whenever it is called. */
  readonly toolFor: (outbox: Outbox) => T;
  readonly call: (tool: T, args: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

export function governedEffectChecks<T extends object>(framework: string, { toolFor, call }: EffectSubject<T>): void {
  const open = async (outbox: Outbox, directory: string, more: Partial<GovernedEffectOptions> = {}) =>
    governedEffect(toolFor(outbox), {
      directory,
      grant: { as: 'requester@t9', actions: ['notify:send'] },
      purpose: 'claim_notice',
      action: 'notify:send',
      resource: { type: 'claim', argument: 'claim_id' },
      keyArgument: 'key',
      readBack: async (key) => {
        const mail = outbox.sent.find((one) => one.key === key);
        return mail === undefined ? undefined : { reference: mail.id, record: { id: mail.id } };
      },
      ...more,
    });

  test(`${framework}: a call waits for its approval, is applied once, and the same call again gets the same result`, async () => {
    using place = ownDirectory();
    const outbox = openOutbox();
    await using effect = await open(outbox, place.path);
    const calls = [call(effect.tool, { claim_id: 'C-102' }), call(effect.tool, { claim_id: 'C-102' })];
    const row = await pendingOf(effect);
    assert.equal(row.proposal.action.resource, 'claim:C-102');
    assert.equal(outbox.sent.length, 0);
    const decision = { approvalId: row.approvalId, digest: row.proposal.actionDigest };
    await assert.rejects(effect.decide({ as: 'requester@t9' }, decision), refusedWith('ERR_APPROVER'));
    await effect.decide({ as: 'approver@t9' }, decision);
    assert.deepEqual(await Promise.all(calls), [{ id: 'm-1' }, { id: 'm-1' }]);
    assert.deepEqual(await call(effect.tool, { claim_id: 'C-102' }), { id: 'm-1' });
    assert.equal(outbox.sent.length, 1);
    const [effectRow, ...others] = await effect.effects();
    assert.deepEqual([effectRow?.state, effectRow?.receipt?.reference, others.length], ['completed', 'm-1', 0]);
  });

  test(`${framework}: a lost reply is read back and not sent again`, async () => {
    using place = ownDirectory();
    const outbox = openOutbox();
    outbox.losesReply = true;
    await using effect = await open(outbox, place.path);
    const calling = call(effect.tool, { claim_id: 'C-102' });
    await approve(effect);
    assert.deepEqual(await calling, { id: 'm-1' });
    assert.equal(outbox.sent.length, 1);
  });

  test(`${framework}: a rejection reaches the program in the reviewer's words, and nothing is sent`, async () => {
    using place = ownDirectory();
    const outbox = openOutbox();
    await using effect = await open(outbox, place.path);
    const calling = assert.rejects(call(effect.tool, { claim_id: 'C-102' }), (error) => {
      assert.match(error instanceof Error ? error.message : '', /The wording is wrong/);
      return refusedWith('ERR_APPROVAL_REJECTED')(error);
    });
    const row = await pendingOf(effect);
    await effect.decide(
      { as: 'approver@t9' },
      {
        approvalId: row.approvalId,
        digest: row.proposal.actionDigest,
        disposition: 'rejected',
        reason: 'The wording is wrong.',
      },
    );
    await calling;
    assert.equal(outbox.sent.length, 0);
  });

  test(`${framework}: a program that is started again goes on with what waits, and sends once`, async () => {
    using place = ownDirectory();
    const outbox = openOutbox();
    {
      await using first = await open(outbox, place.path, { waitMs: 300 });
      await assert.rejects(call(first.tool, { claim_id: 'C-102' }), refusedWith('ERR_APPROVAL_STATE'));
    }
    await using second = await open(outbox, place.path);
    await approve(second);
    assert.deepEqual(await call(second.tool, { claim_id: 'C-102' }), { id: 'm-1' });
    assert.equal(outbox.sent.length, 1);
  });

  test(`${framework}: the key is the ledger's, and an argument outside the schema is refused`, async () => {
    using place = ownDirectory();
    await using effect = await open(openOutbox(), place.path);
    await assert.rejects(call(effect.tool, { claim_id: 'C-102', key: 'mine' }), refusedWith('ERR_SCHEMA'));
    await assert.rejects(call(effect.tool, { claim_id: 7 }), refusedWith('ERR_SCHEMA'));
    assert.deepEqual(await effect.pending(), []);
  });
}

function ownDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'governed-effect-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export async function approve(effect: GovernedEffect<object>): Promise<void> {
  const { approvalId, proposal } = await pendingOf(effect);
  await effect.decide({ as: 'approver@t9' }, { approvalId, digest: proposal.actionDigest });
}

export async function pendingOf(effect: GovernedEffect<object>) {
  for (let look = 0; look < 200; look++) {
    const [row] = await effect.pending();
    if (row !== undefined) return row;
    await systemClock.sleep(20);
  }
  return assert.fail('nothing waits for approval');
}

export function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof CaseOpsError && error.code === code;
}
