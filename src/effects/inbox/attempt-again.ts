/** Attempts until something is taken, refused for good, or enough was tried. */
import type { Clock } from '#ports/clock.ts';

/** `later`: it may be taken another time. */
export type Attempted =
  | { readonly taken: true }
  | { readonly taken: false; readonly later: boolean; readonly reason: string };

export interface AttemptPolicy {
  readonly attemptCountMax: number;
  /** Before the second attempt; doubles each time. */
  readonly backoffMs: number;
  readonly clock: Clock;
}

/** The last attempt's answer. Rejects with the signal's reason when aborted while waiting. */
export async function attemptAgain(
  policy: AttemptPolicy,
  attempt: () => Promise<Attempted>,
  signal: AbortSignal,
): Promise<Attempted> {
  for (let count = 1; ; count++) {
    const attempted = await attempt();
    if (attempted.taken || !attempted.later || count >= policy.attemptCountMax) return attempted;
    await policy.clock.sleep(policy.backoffMs * 2 ** (count - 1), signal);
  }
}
