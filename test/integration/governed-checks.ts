/** What holds for a governed tool whatever the framework: each framework's test runs these on its real package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import { verifyChain } from '#kernel/chain.ts';
import type { GovernedSession, GovernedTool } from 'caseops';

export interface GovernedSubject<T extends object> {
  readonly open: (actions?: string[]) => GovernedTool<T>;
  /** One call past the framework's loop; what the tool gives, or what it throws. */
  readonly call: (tool: T, args: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** The tool as the program brought it. */
  readonly plain: T;
  /** What is at C-102 in the tool's output, in this framework's form. */
  readonly c102: unknown;
}

export function governedChecks<T extends object>(framework: string, subject: GovernedSubject<T>): void {
  const { open, call, plain, c102 } = subject;

  test(`${framework}: a lawful call works and leaves evidence of the record's version`, async () => {
    const governed = open();
    const { tool: claim } = governed;
    assert.deepEqual(await call(claim, { claim_id: 'C-102' }), c102);
    assert.deepEqual(refs(governed), ['claim:C-102@v17']);
    await governed.close();
    assert.deepEqual(kindsOf(await governed.trace()), [
      'run.received',
      'tool.adopted',
      'call.permitted',
      'call.settled',
      'run.ended',
    ]);
  });

  test(`${framework}: another tenant's record is refused and leaves no evidence`, async () => {
    const governed = open();
    const { tool: claim } = governed;
    await refuses(call(claim, { claim_id: 'C-777' }), 'ERR_TOOL_OUTPUT_TENANT');
    assert.deepEqual(refs(governed), []);
    await governed.close();
    const settled = (await governed.trace()).find((event) => event.kind === 'call.settled');
    assert.equal(settled?.body.call.outcome, 'contract_violation');
    assert.equal(settled.body.error?.code, 'ERR_TOOL_OUTPUT_TENANT');
  });

  test(`${framework}: a prohibited action gets no lease, although the person may do it`, async () => {
    const governed = open(['notify:send']);
    const { tool: claim } = governed;
    const error = await refuses(call(claim, { claim_id: 'C-102' }), 'ERR_LEASE');
    assert.equal(error.detail['code'], 'prohibited_action');
    await governed.close();
    assert.deepEqual(kindsOf(await governed.trace()).slice(2), ['call.refused', 'run.ended']);
  });

  test(`${framework}: a budget of two refuses the third call, one after the other or all at once`, async () => {
    const governed = open();
    const { tool: claim } = governed;
    await call(claim, { claim_id: 'C-102' });
    await call(claim, { claim_id: 'C-102' });
    await refuses(call(claim, { claim_id: 'C-102' }), 'ERR_BUDGET');
    await governed.close();
    const crowd = open();
    const ends = await Promise.allSettled([1, 2, 3, 4, 5].map(() => call(crowd.tool, { claim_id: 'C-102' })));
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 2);
    await crowd.close();
    assert.equal(kindsOf(await crowd.trace()).filter((kind) => kind === 'call.permitted').length, 2);
  });

  test(`${framework}: an argument outside the schema is refused before a lease or the budget is touched`, async () => {
    const governed = open();
    const { tool: claim } = governed;
    await refuses(call(claim, { claim_id: 102 }), 'ERR_SCHEMA');
    await refuses(call(claim, { claim_id: 'C-102', tenant: 't8' }), 'ERR_SCHEMA');
    await refuses(call(claim, {}), 'ERR_SCHEMA');
    await call(claim, { claim_id: 'C-102' });
    await call(claim, { claim_id: 'C-102' });
    await governed.close();
    assert.deepEqual(
      kindsOf(await governed.trace()).filter((kind) => kind.startsWith('call.')),
      [
        'call.refused',
        'call.refused',
        'call.refused',
        'call.permitted',
        'call.settled',
        'call.permitted',
        'call.settled',
      ],
    );
  });

  test(`${framework}: the tool that was governed is as it was`, async () => {
    const before = Object.getOwnPropertyDescriptors(plain);
    const governed = open();
    const { tool: claim } = governed;
    await call(claim, { claim_id: 'C-102' });
    await governed.close();
    assert.deepEqual(Object.getOwnPropertyDescriptors(plain), before);
    assert.notEqual(claim, plain);
    assert.equal(Object.getPrototypeOf(claim), Object.getPrototypeOf(plain));
    assert.deepEqual(await call(plain, { claim_id: 'C-102' }), c102);
    assert.match(JSON.stringify(await call(plain, { claim_id: 'C-777' })), /t8/);
  });

  test(`${framework}: the log is one chain, holds no token, and a closed session permits nothing`, async () => {
    const governed = open();
    const { tool: claim } = governed;
    await call(claim, { claim_id: 'C-102' });
    await governed.close();
    await refuses(call(claim, { claim_id: 'C-102' }), 'ERR_CANCELLED');
    const events = await governed.trace();
    const [first] = events;
    assert.ok(first !== undefined);
    const start = { ref: { tenant: first.tenant, runId: first.runId }, seq: 0, hash: '' } as const;
    assert.equal(verifyChain(start, events).ok, true);
    assert.doesNotMatch(JSON.stringify(events), /eyJ/);
  });
}

export async function refuses(call: Promise<unknown>, code: string): Promise<CaseOpsError> {
  const [end] = await Promise.allSettled([call]);
  assert.equal(end?.status, 'rejected', `expected ${code}, and the call was let pass`);
  assert.ok(end.reason instanceof CaseOpsError, String(end.reason));
  assert.equal(end.reason.code, code);
  return end.reason;
}

export function refs(governed: GovernedSession): readonly string[] {
  return governed.evidence().map(({ ref }) => ref);
}

function kindsOf(events: readonly RunEvent[]): readonly string[] {
  return events.map(({ kind }) => kind);
}
