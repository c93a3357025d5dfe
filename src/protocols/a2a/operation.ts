/**
 * What a request asks, read by us before the SDK reads it: both bindings become one closed union. What goes on to the SDK is written
 * anew from what was understood, so that the two readers cannot differ. Source: A2A 1.0.1 §9, §11; PROTOCOLS "Before the SDK".
 */
import type { TaskState } from '@a2a-js/sdk';
import type { DispatchMessage } from './dispatch-message.ts';

/** Path, query or body may name a tenant; it must be the lease's. */
interface Asked {
  readonly tenant: string | undefined;
}

export interface ListQuery {
  readonly contextId: string | undefined;
  readonly state: TaskState | undefined;
  readonly pageSize: number;
  readonly pageToken: string | undefined;
  readonly updatedAfter: string | undefined;
  readonly includeArtifacts: boolean;
}

export type Operation =
  | (Asked & {
      readonly kind: 'send';
      readonly stream: boolean;
      readonly returnImmediately: boolean;
      readonly message: DispatchMessage;
    })
  | (Asked & { readonly kind: 'get'; readonly taskId: string })
  | (Asked & { readonly kind: 'list'; readonly query: ListQuery })
  | (Asked & { readonly kind: 'cancel'; readonly taskId: string })
  /** `afterSeq` from Last-Event-ID; undefined: from now on. */
  | (Asked & { readonly kind: 'subscribe'; readonly taskId: string; readonly afterSeq: number | undefined })
  /** Not offered: answered with A2A's own error after authentication. */
  | (Asked & { readonly kind: 'extendedCard' })
  | (Asked & { readonly kind: 'push' });

export type ReadOperation =
  | {
      readonly ok: true;
      readonly operation: Operation;
      /** The same request written anew for the SDK. */
      readonly url: string;
      readonly body: unknown;
      readonly rpcId: string | number | null;
    }
  | {
      readonly ok: false;
      readonly error: Error;
      readonly rpcId: string | number | null;
      /** When it is not the error's own. */
      readonly status?: number;
    };

export type OperationOf<K extends Operation['kind']> = Extract<Operation, { readonly kind: K }>;
