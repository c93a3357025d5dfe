/** The simulated network: each message takes a thrown time, may be lost on its way there or back, be slow, or arrive twice. */
import { CaseOpsError } from '#contracts/error.ts';
import type { Dice } from './dice.ts';
import type { FaultBook } from './fault-book.ts';
import type { VirtualTime } from './virtual-time.ts';

const LATENCY_MS_MAX = 8;
/** After so long a sender sees that a lost message was lost. */
const LOSS_MS = [40, 400, 3_000] as const;

export interface Network {
  /**
   * One message over a link. Resolves when it arrives, true when it arrives twice; rejects with ERR_TEAM_UNREACHABLE when it is lost,
   * or with the signal's reason.
   */
  carry(link: string, signal: AbortSignal): Promise<boolean>;
  /** A later time, for the second arrival of a message. */
  later(): Promise<void>;
  unreachable(link: string): CaseOpsError;
}

export function createNetwork(parts: {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly book: FaultBook;
  readonly startMs: number;
}): Network {
  const { time, dice, book, startMs } = parts;
  const unreachable = (link: string): CaseOpsError =>
    new CaseOpsError('ERR_TEAM_UNREACHABLE', `The simulated link ${link} lost a message.`, { at: 'network' });
  return {
    carry: async (link, signal) => {
      const fault = book.message(link);
      if (fault?.how === 'drop' || book.partitioned(link, time.nowMs() - startMs)) {
        await time.sleep(dice.one(LOSS_MS), signal);
        throw unreachable(link);
      }
      await time.sleep(dice.between(1, LATENCY_MS_MAX) + (fault?.how === 'delay' ? fault.ms : 0), signal);
      return fault?.how === 'duplicate';
    },
    later: () => time.sleep(dice.between(1, 500)),
    unreachable,
  };
}
