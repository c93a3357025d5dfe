/** A run's events as server-sent events: `id` is the event's sequence, a comment keeps the line alive, `end` says that it is over. */
import type { RunEvent } from '#contracts/event.ts';

export function eventStream(events: AsyncIterable<RunEvent>): Response {
  const encoder = new TextEncoder();
  const iterator = events[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(': open\n\n')),
    pull: async (controller) => {
      const next = await iterator.next();
      if (next.done === true) {
        controller.enqueue(encoder.encode('event: end\ndata: {}\n\n'));
        controller.close();
        return;
      }
      const { seq, kind } = next.value;
      controller.enqueue(encoder.encode(`id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify(next.value)}\n\n`));
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } });
}
