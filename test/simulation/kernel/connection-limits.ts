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

/** The limits that a connection asked for, by the names that the server has for them, in milliseconds. */
export type Limits = Readonly<Record<string, number>>;

/**
 * Takes the limits of a connection away from the server and from the driver, which count real time.
 * @returns them; the simulation counts those of waits for locks and of idle transactions
 */
export function takeLimits(client: pg.Client): Limits {
  const asking = client as unknown as Asking;
  const { connectionParameters } = asking;
  const options = connectionParameters.options ?? '';
  const atStart = [...options.matchAll(/-c (lock_timeout|transaction_timeout)=(\d+)/g)];
  const limits: Limits = {
    ...(Object.fromEntries(atStart.map(([, name, ms]) => [name, Number(ms)])) as Limits),
    statement_timeout: Number(connectionParameters.statement_timeout),
    idle_in_transaction_session_timeout: Number(connectionParameters.idle_in_transaction_session_timeout),
  };
  const left = options.replace(/-c (lock|transaction)_timeout=\d+/g, '');
  connectionParameters.options = `${left} -c synchronize_seqscans=off`;
  connectionParameters.statement_timeout = false;
  connectionParameters.idle_in_transaction_session_timeout = false;
  asking._connectionTimeoutMillis = 0;
  return limits;
}

/** Lets a connection see the limits that it asked for where it compares them with those that it got. */
export function showingLimits(config: unknown, limits: Limits): unknown {
  if (typeof config !== 'string') return config;
  const shown = /extract\(epoch from current_setting\('(\w+)'\)::interval\) \* 1000/g;
  return config.replace(shown, (all, name: string) => (name in limits ? String(limits[name]) : all));
}
