/** Ctrl-C as an abort signal: the first ends what the command waits for, the second ends the process. */
import { EXIT } from './exit-codes.ts';

const controller = new AbortController();
let installed = false;

export function interrupted(): AbortSignal {
  if (!installed) {
    installed = true;
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (controller.signal.aborted) process.exit(EXIT.interrupted);
        controller.abort(new Interrupted());
      });
    }
  }
  return controller.signal;
}

/** The reason of the signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
