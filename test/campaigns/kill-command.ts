/** `npm run -s campaign:kill -- --store sqlite|postgres --kills N --seed S --json` */
import { parseArgs } from 'node:util';
import { report } from './check-object.ts';
import { runKillCampaign } from './kill.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const { store, json } = values;
if (store !== 'sqlite' && store !== 'postgres') throw new Error(`--store expects sqlite or postgres, got ${store}`);
const [kills, seed] = [Number(values.kills), Number(values.seed)];
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed))
  throw new Error('--kills and --seed expect whole numbers');
const check = await runKillCampaign({ store, kills, seed, onLife: (text) => void process.stderr.write(`${text}\n`) });
report(check, json);
