/** Processes of the target suite: one that dies between the effect and its reply, and several that race for a resource. */
import { effectAction, type EffectAction } from '#contracts/effect-action.ts';
import type { Applied, EffectTarget } from '#ports/effect-target.ts';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { requestOf } from './suite-target-action.ts';
import type { TargetSubject } from './suite-target-subject.ts';

/** The child's side: applies the action of its last argument, then says the outcome, or dies instead when its first word is `die`. */
export async function runTargetChild(target: EffectTarget): Promise<void> {
  const [mode, json] = process.argv.slice(-2);
  const applied = await target.apply(
    requestOf(effectAction.parse(JSON.parse(json ?? ''))),
    new AbortController().signal,
  );
  if (mode === 'die') process.kill(process.pid, 'SIGKILL');
  else process.stdout.write(JSON.stringify(applied));
}

/** Applies in a process that is gone before it could say so. */
export async function applyAndDie(subject: TargetSubject, action: EffectAction): Promise<void> {
  const { child, exited } = start(subject, 'die', action);
  child.stdout.resume();
  assert.equal((await exited)[1], 'SIGKILL');
}

/** Applies in a process of its own. */
export async function applyElsewhere(subject: TargetSubject, action: EffectAction): Promise<Applied> {
  const { child, exited } = start(subject, 'say', action);
  const said = await text(child.stdout);
  assert.deepEqual((await exited)[0], 0);
  return JSON.parse(said) as Applied;
}

function start({ child: { script, args } }: TargetSubject, mode: 'die' | 'say', action: EffectAction) {
  const child = spawn(process.execPath, [...process.execArgv, script.pathname, ...args, mode, JSON.stringify(action)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, exited: once(child, 'exit') as Promise<[number | null, string | null]> };
}
