import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  isGrpcDeadlineError,
  type ConnectionOptions,
} from '@temporalio/client';
import type { TemporalPlace } from './command.js';

export type { Client as TemporalClient } from '@temporalio/client';

/** Tells whether a call ended by its deadline: what it asked for may have happened all the same. */
export const hasPassedDeadline: (error: unknown) => boolean = isGrpcDeadlineError;

/**
 * How long one call of Temporal may take unless its caller told, in milliseconds (decision 72, "Deadlines of waits").
 */
export const TEMPORAL_CALL_MS = 10_000;

/**
 * A connection that goes silent is noticed by pings, as often as the server lets clients send them, and replaced: a
 * deadline alone would end each call and leave the next one on the same connection.
 */
export const temporalKeepAlive = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
} as const;

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** Its type asks for the class that the library makes itself, of what `nextCall` returns. */
type LooseInterceptor = (...args: Parameters<Interceptor>) => ReturnType<Parameters<Interceptor>[1]>;

/** What a call may be tried again within its limit: whoever calls asks again by themselves, with longer pauses. */
const TRIES = 3;

/**
 * Connects the activities to Temporal. Each call has a limit, its repetitions included; what was asked may have happened
 * all the same.
 * @param callMs for a call whose caller sets no limit of their own
 */
export async function connectTemporal(
  { address, namespace }: TemporalPlace,
  callMs = TEMPORAL_CALL_MS,
): Promise<Client> {
  const connection = await Connection.connect({
    address,
    // Its default pause between two tries to connect grows to two minutes: too long to come back by itself.
    channelArgs: {
      ...temporalKeepAlive,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
    interceptors: [
      limited(callMs),
      makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: TRIES })),
    ],
  });
  return new Client({ connection, namespace });
}

/** Outermost, so that the repetitions share the limit. The call that it passes on is the SDK's own. */
function limited(callMs: number): Interceptor {
  const call: LooseInterceptor = (options, nextCall) =>
    nextCall({ ...options, deadline: options.deadline ?? Date.now() + callMs });
  return call as unknown as Interceptor;
}
