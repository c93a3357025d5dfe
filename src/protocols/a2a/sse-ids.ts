/** Event ids on the stream: the SDK writes one frame per call and no id; the id is the sequence of the run's log. Source: SEAMS. */
import type { Response } from 'express';
import type { AuthorizedCaller } from './task-caller.ts';

/** Puts `id:` before each data frame, so that a reader can resume from any process by Last-Event-ID. */
export function numberFrames(response: Response, caller: Pick<AuthorizedCaller, 'eventSeq'>): void {
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const numbered = (chunk: unknown, ...rest: unknown[]): boolean => {
    const isFrame = typeof chunk === 'string' && chunk.startsWith('data: ') && caller.eventSeq !== undefined;
    return write(isFrame ? `id: ${caller.eventSeq}\n${chunk}` : chunk, ...rest);
  };
  response.write = numbered as typeof response.write;
}
