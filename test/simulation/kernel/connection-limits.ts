import type pg from 'pg';

/** What a connection that is not open yet would ask of the server and of the driver. */
interface Asking {
  readonly connectionParameters: {
    options?: string;
    statement_timeout?: unknown;
    idle_in_transaction_session_timeout?: unknown;
  };
  _connectionTimeoutMillis: number;
}

/**
 * Takes the limits of a connection away from the server and from the driver, which count real time.
 * @returns its limits of waits for locks and of idle transactions, in milliseconds; the simulation counts them
 */
export function takeLimits(client: pg.Client): { lockMs: number; idleMs: number } {
  const asking = client as unknown as Asking;
  const { connectionParameters } = asking;
  const options = connectionParameters.options ?? '';
  const lockMs = Number(/lock_timeout=(\d+)/.exec(options)?.[1] ?? 0);
  const idleMs = Number(connectionParameters.idle_in_transaction_session_timeout);
  const left = options.replace(/-c (lock|transaction)_timeout=\d+/g, '');
  connectionParameters.options = `${left} -c synchronize_seqscans=off`;
  connectionParameters.statement_timeout = false;
  connectionParameters.idle_in_transaction_session_timeout = false;
  asking._connectionTimeoutMillis = 0;
  return { lockMs, idleMs };
}
