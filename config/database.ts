import { hostsOf } from '../adapters/postgres/address.js';
import { databaseRoles } from '../migrations/roles.js';
import { integer, optional, required, text, withDefault, type ValuesOf } from './variables.js';

/** A password is part of an address, and never needs RFC 4013's preparation. */
const loginPassword = text.pattern(/^[\w-]{8,200}$/).empty('');

/** One host or several, with the parameters that hosts' pages give. */
const databaseUrl = text
  .custom((value: string) => (hostsOf(value), value))
  .messages({ 'any.custom': '{{#label}} {{#error.message}}' });

/** Each process's address and connections of the database, and the numbers of the metering. */
export const databaseVariables = {
  DATABASE_URL: required(databaseUrl),
  DATABASE_ROLE: optional(text.valid(...Object.values(databaseRoles)).empty('')),
  API_DATABASE_PASSWORD: optional(loginPassword),
  WORKER_DATABASE_PASSWORD: optional(loginPassword),
  OPS_DATABASE_PASSWORD: optional(loginPassword),
  SIGNER_DATABASE_PASSWORD: optional(loginPassword),
  MACHINE_DATABASE_PASSWORD: optional(loginPassword),
  DATABASE_POOL_MAX: withDefault(integer(2, 200), 20),
  DATABASE_OPEN_POOL_MAX: withDefault(integer(1, 100), 20),
  DATABASE_METER_POOL_MAX: optional(integer(1, 257).empty('')),
  METER_SHARDS: withDefault(integer(1, 256), 2),
};

type DatabaseValues = ValuesOf<typeof databaseVariables>;

/** The database's part of the configuration. */
export function databaseOf(env: DatabaseValues) {
  return {
    url: env.DATABASE_URL,
    /** The role that each connection works as; null: the URL's user is the right one, or belongs to it. */
    role: env.DATABASE_ROLE,
    /** The passwords that the migrations set for the processes' logins; null: they leave that login alone. */
    loginPasswords: {
      api: env.API_DATABASE_PASSWORD,
      worker: env.WORKER_DATABASE_PASSWORD,
      ops: env.OPS_DATABASE_PASSWORD,
      signer: env.SIGNER_DATABASE_PASSWORD,
      machine: env.MACHINE_DATABASE_PASSWORD,
    },
    poolMax: env.DATABASE_POOL_MAX,
    openPoolMax: env.DATABASE_OPEN_POOL_MAX,
    /**
     * The connections for metering alone (decision 73, "Turns at the wallet"): one for each shard, and one for a tick
     * that starts again while the lost one's connection still ends.
     */
    meterPoolMax: env.DATABASE_METER_POOL_MAX ?? env.METER_SHARDS + 1,
  };
}

/** The metering's part of the configuration. */
export function meterOf(env: DatabaseValues) {
  return { shards: env.METER_SHARDS };
}
