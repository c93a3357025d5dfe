/** `npm run -s campaign:fuzz -- --cases N --seed S --json` */
import { numberOptions, report } from './check-object.ts';
import { runFuzz } from './fuzz.ts';

const { cases, seed, seconds, json } = numberOptions({ cases: 20_000, seed: 1, seconds: 480 });
report(await runFuzz({ caseCount: cases, seed, durationMsMax: seconds * 1_000 }), json);
