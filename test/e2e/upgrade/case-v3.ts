/** What is deployed as v3. */
import { parcelCase } from './parcels.ts';

export const deployed = parcelCase('v3', import.meta.url);
