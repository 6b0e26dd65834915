import { Client, Connection } from '@temporalio/client';
import { connectionTo, whyNot, type TemporalPlace } from './place.js';

/** Somebody waits for a command: it must soon say that Temporal is not there. */
const CONNECT_MS = 5_000;

/**
 * Connects to Temporal for one command.
 * @throws Error saying that nothing was started, when it can't be reached; else what `work` throws
 */
export async function withTemporal<T>(
  place: TemporalPlace,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const options = { ...connectionTo(place), connectTimeout: CONNECT_MS };
  const connection = await Connection.connect(options).catch(async (cause: unknown) => {
    throw new Error(`Nothing was started. ${await whyNot(place, cause)}`, { cause });
  });
  try {
    return await work(new Client({ connection, namespace: place.namespace }));
  } finally {
    await connection.close();
  }
}

/**
 * Connects in the same way for work that a command can do without.
 * @param limitMs how long connecting may take, and then the work
 * @throws Error when Temporal did not answer in time
 */
export async function withTemporalSoon<T>(
  place: TemporalPlace,
  limitMs: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ ...connectionTo(place), connectTimeout: limitMs });
  try {
    const client = new Client({ connection, namespace: place.namespace });
    return await connection.withDeadline(Date.now() + limitMs, () => work(client));
  } finally {
    await connection.close();
  }
}
