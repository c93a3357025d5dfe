/** `npm run -s campaign:load -- --json` */
import { numberOptions, report } from './check-object.ts';
import { FULL_LOAD, runLoad } from './load.ts';

const { json } = numberOptions({});
report(await runLoad(FULL_LOAD), json);
