/** A peer in its own process: says when it is ready, and measures as often as it is asked, one line of JSON each. */
import { createInterface } from 'node:readline';
import { measure } from '../measure.ts';

export async function serve(once) {
  process.stdout.write('ready\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const { inFlight, seconds } = JSON.parse(line);
    process.stdout.write(`${JSON.stringify(await measure(once, inFlight, seconds))}\n`);
  }
  process.exit(0);
}
