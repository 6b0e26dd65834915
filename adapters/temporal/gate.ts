import { Client, Connection } from '@temporalio/client';
import { carryOrigin } from './carry-origin.js';
import { temporalKeepAlive } from './client.js';
import { connectionTo, whyNot, type TemporalPlace } from './place.js';

/** The API's way to Temporal: every call through it has a limit, and the server may come and go. */
export interface TemporalGate {
  readonly client: Client;
  /** Asks the server for a sign of life. Never throws. */
  isReachable(limitMs: number): Promise<boolean>;
  /**
   * Runs calls of the client, all of them together within a limit.
   * @throws when the limit passed or the server can't be reached; the calls may have taken effect all the same
   */
  within<T>(limitMs: number, call: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens a gate. It connects at its first use, and again by itself whenever the connection was lost. */
export function createTemporalGate(place: TemporalPlace): TemporalGate {
  const connection = Connection.lazy({
    ...connectionTo(place),
    // The library's default pause between two tries grows to two minutes, which is too long.
    channelArgs: {
      ...temporalKeepAlive,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
    // No retries in here: they would go on beyond the limit. The caller decides whether to ask again.
    interceptors: [],
  });
  const within: TemporalGate['within'] = (limitMs, call) =>
    connection.withDeadline(Date.now() + limitMs, call);

  return {
    client: new Client({ connection, namespace: place.namespace, interceptors: { workflow: [carryOrigin] } }),
    within,
    async isReachable(limitMs) {
      try {
        await within(limitMs, () => connection.workflowService.getSystemInfo({}));
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

/**
 * Asks for the namespace, once. Never throws.
 * @returns why the server can't be used, in words; undefined when it can
 */
export async function findRefusal(
  gate: TemporalGate,
  place: TemporalPlace,
  limitMs: number,
): Promise<string | undefined> {
  try {
    const { namespace } = place;
    await gate.within(limitMs, () => gate.client.connection.workflowService.describeNamespace({ namespace }));
    return undefined;
  } catch (error) {
    return whyNot(place, error);
  }
}
