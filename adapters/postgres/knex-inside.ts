import type { Duplex } from 'node:stream';

/**
 * What knex has inside and does not promise: limits of answers, prepared statements and the figures of pools need it. It
 * is named here, and its dialect in watched-client.ts; test/adapters/postgres/knex-inside.test.ts fails where a release of
 * knex changes it. Nothing here loads knex: the mock, which has no database, loads this.
 */

/** A client of the driver, as knex keeps it in its pool. */
export interface Connection {
  /** Set by knex once the connection has failed or ended: the pool never gives it out again. */
  readonly __knex__disposed?: unknown;
  readonly connection: { readonly stream: Duplex };
  /** Ours: set while several statements are sent before the answers of those before them have come. */
  pipeline?: boolean;
  query(sql: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  /** I: outside a transaction, T: within one, E: within one that has failed; null before the first answer. */
  getTransactionStatus(): 'I' | 'T' | 'E' | null;
}

/** Gives connections out, takes them back, and sends statements. A transaction has one of its own. */
export interface KnexClient {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
  query(connection: Connection, statement: object): Promise<{ response: { rows: unknown[] } }>;
  /** tarn's. */
  readonly pool: {
    numUsed(): number;
    numFree(): number;
    numPendingAcquires(): number;
    readonly max: number;
  };
}

/** @param db a database or a transaction */
export function knexClientOf(db: { readonly client: unknown }): KnexClient {
  return db.client as KnexClient;
}
