import { apiOf, apiVariables } from './config/api.js';
import { databaseOf, databaseVariables, meterOf } from './config/database.js';
import { identityOf, identityVariables } from './config/identity.js';
import { logOf, logVariables } from './config/log.js';
import { processorOf, processorVariables } from './config/processor.js';
import { providersOf, providerVariables } from './config/providers.js';
import { temporalOf, temporalVariables } from './config/temporal.js';
import {
  contact,
  integer,
  optional,
  port,
  readVariables,
  required,
  text,
  url,
  withDefault,
  type ValuesOf,
} from './config/variables.js';
import { sellerOf, sellerVariables } from './config/seller.js';
import { listenerOf, listenerVariables, softwareOf, softwareVariables } from './config/software.js';
import { tracingOf, tracingVariables } from './config/tracing.js';
import { webhooksOf, webhookVariables } from './config/webhooks.js';
import { HOUR } from './domain/durations.js';
import { operationLimits } from './domain/operations/limits.js';
import { paymentLimits } from './domain/payments/limits.js';
import { rentalLimits } from './domain/rentals/limits.js';

export type { ProviderConfig } from './config/providers.js';
export { readTemporal, temporalVariables } from './config/temporal.js';
export { ConfigError } from './config/variables.js';

/** The variables that every process reads: its name and log, and where Prometheus reads it. */
const processVariables = {
  DEPLOYMENT: withDefault(text.pattern(/^[a-z0-9]{1,12}$/), 'dev'),
  ...logVariables,
  METRICS_HOST: withDefault(text, '127.0.0.1'),
  METRICS_PORT: optional(port.empty('')),
  CLOSED_ACCOUNTS_FILE: optional(text.pattern(/^\//, 'an absolute path').empty('')),
};

const mailVariables = {
  SMTP_URL: required(url('smtp', 'smtps')),
  MAIL_FROM: withDefault(text, 'GPU rental <no-reply@localhost>'),
  OPERATOR_EMAIL: optional(text.trim().email({ tlds: false }).empty('')),
  SUPPORT_CONTACT: optional(contact),
};

/** The most that may be charged or moved before somebody else is asked. */
const capVariables = {
  AUTO_TOPUP_DAILY_CAP_CENTS: optional(
    integer(paymentLimits.minAutoTopupCents, paymentLimits.maxDailyCapCents).empty(''),
  ),
  ORDER_SINGLE_LIMIT_CENTS: withDefault(integer(0), operationLimits.orderSingleLimitCents),
  CARD_TRIES_PER_HOUR: withDefault(integer(1), paymentLimits.cardTriesPerHour),
  CARD_TRIES_PER_HOUR_OF_ADDRESS: withDefault(integer(1), paymentLimits.cardTriesPerHourOfAddress),
  CARD_DECLINES_PER_PAGE: withDefault(integer(1), paymentLimits.declinesPerPage),
  FREE_MACHINES_CENTS: withDefault(integer(1), rentalLimits.freeMachines.freeCents),
  FREE_MACHINES_NEW_ACCOUNT_HOURS: withDefault(
    integer(0, 720),
    rentalLimits.freeMachines.newAccountMs / HOUR,
  ),
};

/** Every variable of the environment that the service reads; .env.example explains each. */
export const variables = {
  ...databaseVariables,
  ...processVariables,
  ...temporalVariables,
  ...tracingVariables,
  ...apiVariables,
  ...identityVariables,
  ...processorVariables,
  ...mailVariables,
  ...sellerVariables,
  ...capVariables,
  ...providerVariables,
  ...webhookVariables,
  ...softwareVariables,
  ...listenerVariables,
};

/** What the listener reads: strangers' machines call it, so it is given nothing else. */
const variablesOfListener = {
  ...databaseVariables,
  ...processVariables,
  ...listenerVariables,
  TRUST_PROXY: apiVariables.TRUST_PROXY,
};

/**
 * Everything that the environment decides, as one frozen object. No other file reads the environment; only the
 * composition roots (api, worker, listener and ops/index.ts, migrations/run.ts, lab/) import this one.
 */
export type Config = ReturnType<typeof readConfig>;

/**
 * Reads and validates the environment.
 * @param env the variables; by default `process.env`
 * @throws ConfigError naming every fault at once
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return freeze(configOf(readVariables(variables, env)));
}

/**
 * Reads and validates what the listener alone needs of the environment.
 * @throws ConfigError naming every fault at once
 */
export function readListenerConfig(env: NodeJS.ProcessEnv = process.env) {
  const values = readVariables(variablesOfListener, env);
  return freeze({
    log: logOf(values),
    database: databaseOf(values),
    metrics: metricsOf(values),
    trustProxy: values.TRUST_PROXY,
    listener: listenerOf(values),
  });
}

/** Where Prometheus reads this process; port null: nowhere. 0 takes any free port. */
function metricsOf(env: ValuesOf<typeof processVariables>) {
  return { host: env.METRICS_HOST, port: env.METRICS_PORT };
}

function configOf(env: ValuesOf<typeof variables>) {
  return {
    /**
     * Names this installation at the upstreams, so that one never touches another's pods (decision 22, "Machines of
     * nobody").
     */
    deployment: env.DEPLOYMENT,
    log: logOf(env),
    database: databaseOf(env),
    /** Read when it is asked for: commands of the database alone need none of its files. Throws a ConfigError. */
    temporal: () => temporalOf(env),
    /** Where the worker keeps the numbers of closed accounts outside of the database; null: nowhere. */
    closedAccountsFile: env.CLOSED_ACCOUNTS_FILE,
    tracing: tracingOf(env),
    api: apiOf(env),
    metrics: metricsOf(env),
    processor: processorOf(env),
    /** The identity providers for signing in; null is one without credentials (decision 11, "Sign-in elsewhere"). */
    identity: identityOf(env),
    /** operatorEmail: the address that is told of findings; null: the log only. */
    mail: { smtpUrl: env.SMTP_URL, from: env.MAIL_FROM, operatorEmail: env.OPERATOR_EMAIL },
    /** Where people get help: a mail address or an https address; null: nobody is named. */
    supportContact: env.SUPPORT_CONTACT,
    /** Who receipts are from. */
    seller: sellerOf(env),
    /** The daily cap of auto-topup for accounts that are made from now on; null: no cap. */
    autoTopupDailyCapCents: env.AUTO_TOPUP_DAILY_CAP_CENTS,
    meter: meterOf(env),
    /** The most that one operator may move alone, in cents (decision 87, "Operator orders"). */
    orderSingleLimitCents: env.ORDER_SINGLE_LIMIT_CENTS,
    /** How often cards may be tried (decision 128, "Trying of cards"). */
    cardTries: {
      perHour: env.CARD_TRIES_PER_HOUR,
      perHourOfAddress: env.CARD_TRIES_PER_HOUR_OF_ADDRESS,
      declinesPerPage: env.CARD_DECLINES_PER_PAGE,
    },
    /** What machines may cost that nobody is billed for (decision 83, "Cost of one caller"). */
    freeMachines: {
      freeCents: env.FREE_MACHINES_CENTS,
      newAccountMs: env.FREE_MACHINES_NEW_ACCOUNT_HOURS * HOUR,
    },
    providers: providersOf(env),
    webhooks: webhooksOf(env),
    ownSoftware: softwareOf(env),
    /** True only in trials, whose pods live on loopback: elsewhere private addresses are never probed. */
    allowPrivatePods: env.ALLOW_PRIVATE_MACHINES,
  };
}

type Frozen<T> = T extends (...args: never) => unknown
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

function freeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value as Frozen<T>;
}
