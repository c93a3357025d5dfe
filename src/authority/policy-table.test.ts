import assert from 'node:assert/strict';
import test from 'node:test';
import { digestOf } from '#kernel/digest.ts';
import { createPolicyTable } from './policy-table.ts';

const row = {
  actor: 'supervisor',
  action: 'claims:read',
  resourceType: 'claim',
  purpose: 'completeness-check',
  tenants: ['t9'],
};
const question = {
  tenant: 't9',
  subject: 'requester@t9',
  actor: 'supervisor',
  action: 'claims:read',
  resourceType: 'claim',
  purpose: 'completeness-check',
};

void test('a question that a row answers in every field is permitted, by that row', () => {
  const table = createPolicyTable([{ ...row, actor: 'other' }, row]);
  assert.deepEqual(table.decide(question), { permit: true, rule: 'row 2' });
});

for (const field of ['tenant', 'actor', 'action', 'resourceType', 'purpose'] as const) {
  void test(`another ${field}, also one that differs in case only, is refused`, () => {
    const table = createPolicyTable([row]);
    assert.equal(table.decide({ ...question, [field]: 'x' }).permit, false);
    assert.equal(table.decide({ ...question, [field]: question[field].toUpperCase() }).permit, false);
  });
}

void test('an empty table permits nothing', () => {
  assert.equal(createPolicyTable([]).decide(question).permit, false);
});

void test('the digest is of the rows, and rows changed later change nothing', () => {
  const rows = [{ ...row, tenants: ['t9'] }];
  const table = createPolicyTable(rows);
  assert.equal(table.digest, digestOf(rows));
  rows[0]?.tenants.push('t8');
  assert.equal(table.decide({ ...question, tenant: 't8' }).permit, false);
});
