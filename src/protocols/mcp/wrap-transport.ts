import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/server';

export interface TransportHooks {
  /** Instead of the inner transport's `send`. */
  readonly send?: (message: JSONRPCMessage, options: TransportSendOptions | undefined) => Promise<void>;
  /** Between the inner transport and whoever listens to the outer one. */
  readonly receive?: (message: JSONRPCMessage, deliver: (message: JSONRPCMessage) => void) => void;
}

/** A transport around another: everything passes but what the hooks take. */
export function wrapTransport(inner: Transport, hooks: TransportHooks): Transport {
  const outer: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    send: (message, options) => (hooks.send ? hooks.send(message, options) : inner.send(message, options)),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  };
  // The SDK's transports call these properties; they are no event targets.
  Object.assign(inner, {
    onclose: () => outer.onclose?.(),
    onerror: (error) => outer.onerror?.(error),
    onmessage: (message, extra) => {
      const deliver = (passed: JSONRPCMessage): void => outer.onmessage?.(passed, extra);
      if (hooks.receive) hooks.receive(message, deliver);
      else deliver(message);
    },
  } satisfies Pick<Transport, 'onclose' | 'onerror' | 'onmessage'>);
  return outer;
}
