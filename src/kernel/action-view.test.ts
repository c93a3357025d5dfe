import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionText } from './action-digest.ts';
import { renderActionView, VIEW_ROW_COUNT_MAX, viewDigest } from './action-view.ts';
import { actionOf } from './trial-effects.test.ts';

test('every value of the action is a row, beside what the resource says there now', () => {
  const parameters = { to: { name: 'Ada', tags: ['a', 'b'], none: {} }, 'a/b': 3, flag: true };
  const before = { to: { name: 'Bob', tags: ['a'] }, 'a/b': null };
  assert.deepEqual(renderActionView(actionOf('e1', { parameters }), before)?.rows, [
    { pointer: '/a~1b', before: 'null', after: '3' },
    { pointer: '/flag', before: null, after: 'true' },
    { pointer: '/to/name', before: 'Bob', after: 'Ada' },
    { pointer: '/to/none', before: null, after: '{}' },
    { pointer: '/to/tags/0', before: 'a', after: 'a' },
    { pointer: '/to/tags/1', before: null, after: 'b' },
  ]);
});

test('a resource that does not exist has nothing before', () => {
  const view = renderActionView(actionOf('e1', { expectedVersion: null }), null);
  assert.deepEqual(view?.rows, [{ pointer: '/channel', before: null, after: 'mail' }]);
  assert.match(view?.title ?? '', /which does not exist yet/);
  assert.deepEqual(renderActionView(actionOf('e1', { parameters: {} }), null)?.rows, []);
});

test('what cannot be shown whole is not shown at all', () => {
  const long = 'x'.repeat(9_000);
  assert.equal(renderActionView(actionOf('e1', { parameters: { text: long } }), null), undefined);
  assert.equal(renderActionView(actionOf('e1', { parameters: { text: 'x' } }), { text: long }), undefined);
  const many = Object.fromEntries(Array.from({ length: VIEW_ROW_COUNT_MAX + 1 }, (_, index) => [`p${index}`, index]));
  assert.equal(renderActionView(actionOf('e1', { parameters: many }), null), undefined);
});

test('the order in which parameters are written changes neither bytes nor view', () => {
  const one = actionOf('e1', { parameters: { a: 1, b: 2 } });
  const other = actionOf('e1', { parameters: { b: 2, a: 1 } });
  assert.equal(actionText(one), actionText(other));
  const views = [renderActionView(one, null), renderActionView(other, null)];
  assert.ok(views[0] !== undefined && views[1] !== undefined);
  assert.equal(viewDigest(views[0]), viewDigest(views[1]));
});

test('a live value that is no JSON is shown as nothing', () => {
  const before = { channel: Number.NaN } as never;
  assert.equal(renderActionView(actionOf('e1'), before)?.rows[0]?.before, '');
});
