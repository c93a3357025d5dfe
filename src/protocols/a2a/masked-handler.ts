/** A request handler whose failures say nothing that was not meant for the caller. Source: PROTOCOLS "A2A"; SEAMS. */
import type { StreamResponse } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { type Binding, maskError } from './wire-error.ts';

/** Wraps all twelve methods, so that one added later is a type error and not a leak. */
export function maskErrors(handler: A2ARequestHandler, binding: Binding): A2ARequestHandler {
  const call =
    <P, R>(method: (params: P, context: ServerCallContext) => Promise<R>) =>
    async (params: P, context: ServerCallContext): Promise<R> => {
      try {
        return await method(params, context);
      } catch (error) {
        throw maskError(error, binding);
      }
    };
  const stream = <P>(
    method: (params: P, context: ServerCallContext) => AsyncGenerator<StreamResponse, void, undefined>,
  ) =>
    async function* masked(params: P, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
      try {
        yield* method(params, context);
      } catch (error) {
        throw maskError(error, binding);
      }
    };
  return {
    getAgentCard: () => handler.getAgentCard(),
    getAuthenticatedExtendedAgentCard: call((p, c) => handler.getAuthenticatedExtendedAgentCard(p, c)),
    sendMessage: call((p, c) => handler.sendMessage(p, c)),
    sendMessageStream: stream((p, c) => handler.sendMessageStream(p, c)),
    getTask: call((p, c) => handler.getTask(p, c)),
    cancelTask: call((p, c) => handler.cancelTask(p, c)),
    resubscribe: stream((p, c) => handler.resubscribe(p, c)),
    listTasks: call((p, c) => handler.listTasks(p, c)),
    createTaskPushNotificationConfig: call((p, c) => handler.createTaskPushNotificationConfig(p, c)),
    getTaskPushNotificationConfig: call((p, c) => handler.getTaskPushNotificationConfig(p, c)),
    listTaskPushNotificationConfigs: call((p, c) => handler.listTaskPushNotificationConfigs(p, c)),
    deleteTaskPushNotificationConfig: call((p, c) => handler.deleteTaskPushNotificationConfig(p, c)),
  };
}
