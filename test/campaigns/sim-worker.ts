/** A thread that simulates chunks of seeds and tells what became of each chunk. */
import { parentPort, workerData } from 'node:worker_threads';
import { DESK_CASE } from '#testing/simulation/desk-case.ts';
import { createSimulator } from '#testing/simulation/simulate.ts';
import type { Signing } from '#testing/simulation/stub-signer.ts';
import { type Chunk, simulateChunk, variantOf } from './sim-chunk.ts';

const { signing, variant } = workerData as { readonly signing: Signing; readonly variant: string | undefined };
const simulator = createSimulator(DESK_CASE, { signing, variant: variantOf(variant) });

parentPort?.on('message', (chunk: Chunk) => {
  void simulateChunk(simulator, chunk).then((tally) => parentPort?.postMessage(tally));
});
