/** What is deployed as v1. */
import { parcelCase } from './parcels.ts';

export const deployed = parcelCase('v1', import.meta.url);
