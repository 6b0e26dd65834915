import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  isGrpcDeadlineError,
  type ConnectionOptions,
} from '@temporalio/client';
import { connectionTo, connectOrSay, type TemporalPlace } from './place.js';

export type { Client as TemporalClient } from '@temporalio/client';

/** Tells whether a call ended by its deadline: it may have taken effect all the same. */
export const hasPassedDeadline: (error: unknown) => boolean = isGrpcDeadlineError;

/** The limit of a call of Temporal, in milliseconds, unless its caller sets one (decision 72, "Deadlines of waits"). */
export const TEMPORAL_CALL_MS = 10_000;

/**
 * Pings, as frequent as the server allows, notice a connection that goes silent; it is then replaced. A deadline alone
 * would end each call and leave the next one on the same connection.
 */
export const temporalKeepAlive = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
} as const;

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** The library's type asks for its own class, of the value that `nextCall` returns. */
type LooseInterceptor = (...args: Parameters<Interceptor>) => ReturnType<Parameters<Interceptor>[1]>;

/** The most tries of a call within its limit: callers repeat it themselves, with longer pauses. */
const TRIES = 3;

/**
 * Connects the activities to Temporal. Each call has a limit, its repetitions included; a call that failed may have
 * taken effect all the same.
 * @param callMs for a call whose caller sets no limit of their own
 * @throws Error saying in words why it can't be reached or does not let us in
 */
export async function connectTemporal(place: TemporalPlace, callMs = TEMPORAL_CALL_MS): Promise<Client> {
  const options: ConnectionOptions = {
    ...connectionTo(place),
    // Its default pause between two tries to connect grows to two minutes, which is too long.
    channelArgs: {
      ...temporalKeepAlive,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
    interceptors: [
      limited(callMs),
      makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: TRIES })),
    ],
  };
  const connection = await connectOrSay(place, () => Connection.connect(options));
  return new Client({ connection, namespace: place.namespace });
}

/**
 * Limits a call. It is the outermost interceptor, so that repetitions share the limit. The call that it passes on is
 * the SDK's own.
 */
function limited(callMs: number): Interceptor {
  const call: LooseInterceptor = (options, nextCall) =>
    nextCall({ ...options, deadline: options.deadline ?? Date.now() + callMs });
  return call as unknown as Interceptor;
}
