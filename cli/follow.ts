/** Follows a run to its end or block, with progress on stderr, and returns it. */
import type { RunView } from 'caseops';
import { viewOf, type ApiClient } from './client.ts';
import { createProgress } from './progress.ts';

export async function follow(client: ApiClient, runId: string, signal: AbortSignal): Promise<RunView> {
  const progress = createProgress();
  const stop = new AbortController();
  try {
    for await (const event of client.events(runId, 0, AbortSignal.any([signal, stop.signal]))) {
      progress.take(event);
      if (event.kind === 'run.ended') break;
      if (event.kind === 'run.blocked' && (await viewOf(client, runId)).state === 'blocked') break;
    }
  } finally {
    stop.abort();
    progress.end();
  }
  return viewOf(client, runId);
}
