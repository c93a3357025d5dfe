/** `npm run -s explore -- --json`, `--set 'two steps, wide'` for one set (more than one may be given), `--processes N` */
import { parseArgs } from 'node:util';
import { availableParallelism } from 'node:os';
import { exploreShared } from '#lab/exploration/explore-sets.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: [] },
    processes: { type: 'string', default: String(availableParallelism()) },
  },
});
const check = await exploreShared(values.set, Math.max(1, Number(values.processes)));
process.exitCode = check.ok ? 0 : 1;
if (values.json) process.stdout.write(`${JSON.stringify(check, null, 2)}\n`);
else {
  const number = (value: number | undefined): string => (value ?? 0).toLocaleString('en');
  for (const [name, { planCount, stateCount, transitionCount }] of Object.entries(check.sets))
    process.stdout.write(
      `${name}: ${number(planCount)} plans, ${number(stateCount)} states, ${number(transitionCount)} transitions\n`,
    );
  for (const { invariant, message, plan, moves } of check.counterexamples)
    process.stdout.write(
      `\n${invariant} in ${plan}: ${message}\n${moves.map((move, at) => `  ${at + 1}. ${move}\n`).join('')}`,
    );
  const { stateCount, violationCount } = check.figures;
  const whole = check.complete ? 'complete' : 'NOT complete';
  process.stdout.write(`${number(stateCount)} states, ${whole}, ${number(violationCount)} violations\n`);
}
