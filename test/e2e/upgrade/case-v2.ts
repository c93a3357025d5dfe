/** What is deployed as v2. */
import { parcelCase } from './parcels.ts';

export const deployed = parcelCase('v2', import.meta.url);
