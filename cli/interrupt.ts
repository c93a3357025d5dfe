/** Ctrl-C as an abort signal: the first ends what the command waits for, the second ends the process. */
import { EXIT } from './exit-codes.ts';

const controller = new AbortController();
let installed = false;
/** A terminal signals the whole process group and the launcher passes the signal on: what follows this fast is the same Ctrl-C. */
const SAME_MS_MAX = 300;

export function interrupted(): AbortSignal {
  if (!installed) {
    installed = true;
    let firstAt = 0;
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        const now = performance.now();
        if (!controller.signal.aborted) {
          firstAt = now;
          controller.abort(new Interrupted('Interrupted.'));
        } else if (now - firstAt > SAME_MS_MAX) process.exit(EXIT.interrupted);
      });
    }
  }
  return controller.signal;
}

/** The reason of the signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
