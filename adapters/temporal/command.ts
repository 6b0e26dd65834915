import { Client, Connection } from '@temporalio/client';

/** Temporal's address and namespace. */
export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
}

/** Somebody waits for a command: it must soon say that Temporal is not there. */
const CONNECT_MS = 5_000;

/**
 * Connects to Temporal for one command.
 * @throws Error saying that nothing was started, when it can't be reached; else what `work` throws
 */
export async function withTemporal<T>(
  { address, namespace }: TemporalPlace,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ address, connectTimeout: CONNECT_MS }).catch(
    (cause: unknown) => {
      throw new Error(
        `Nothing was started: Temporal can't be reached at ${address}. Try again when it is up.`,
        { cause },
      );
    },
  );
  try {
    return await work(new Client({ connection, namespace }));
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
  { address, namespace }: TemporalPlace,
  limitMs: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ address, connectTimeout: limitMs });
  try {
    const client = new Client({ connection, namespace });
    return await connection.withDeadline(Date.now() + limitMs, () => work(client));
  } finally {
    await connection.close();
  }
}
