/** What config.ts has read and validated about the database. */
export interface DatabaseEnv {
  readonly DATABASE_URL: string;
  readonly DATABASE_ROLE?: string;
  readonly API_DATABASE_PASSWORD?: string;
  readonly WORKER_DATABASE_PASSWORD?: string;
  readonly OPS_DATABASE_PASSWORD?: string;
  readonly DATABASE_POOL_MAX: number;
  readonly DATABASE_OPEN_POOL_MAX: number;
  readonly DATABASE_METER_POOL_MAX?: number;
  readonly METER_SHARDS: number;
}

/** How each process reaches the database, and by how many connections. */
export interface DatabaseConfig {
  readonly url: string;
  /** The role that each connection works as; null: the URL's user is, or belongs to, the right one. */
  readonly role: string | null;
  /** What the migrations give the logins of the processes; null: they leave that login alone. */
  readonly loginPasswords: {
    readonly api: string | null;
    readonly worker: string | null;
    readonly ops: string | null;
  };
  readonly poolMax: number;
  readonly openPoolMax: number;
  /** For metering alone (decision 73). */
  readonly meterPoolMax: number;
}

/** The database's part of the configuration. */
export function databaseOf(value: DatabaseEnv): DatabaseConfig {
  return {
    url: value.DATABASE_URL,
    role: value.DATABASE_ROLE ?? null,
    loginPasswords: {
      api: value.API_DATABASE_PASSWORD ?? null,
      worker: value.WORKER_DATABASE_PASSWORD ?? null,
      ops: value.OPS_DATABASE_PASSWORD ?? null,
    },
    poolMax: value.DATABASE_POOL_MAX,
    openPoolMax: value.DATABASE_OPEN_POOL_MAX,
    // One for each shard, and one for a tick that is begun again while the lost one's connection still ends.
    meterPoolMax: value.DATABASE_METER_POOL_MAX ?? value.METER_SHARDS + 1,
  };
}
