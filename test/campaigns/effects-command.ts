/** `npm run -s campaign:effects -- --kills N --crashes N --seed S --json` */
import { numberOptions, report } from './check-object.ts';
import { runEffectsCampaign } from './effects.ts';

const { kills, crashes, seed, seconds, json } = numberOptions({ kills: 10, crashes: 10_000, seed: 1, seconds: 7_200 });
report(await runEffectsCampaign({ killsEach: kills, crashCount: crashes, seed, durationMsMax: seconds * 1_000 }), json);
