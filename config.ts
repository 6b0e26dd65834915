import Joi from 'joi';
import { databaseOf, type DatabaseConfig, type DatabaseEnv } from './config-database.js';
import { identityOf, type IdentityEnv } from './config-identity.js';
import { processorOf, type ProcessorConfig, type ProcessorEnv } from './config-processor.js';
import { providersOf, type ProviderConfig, type ProviderEnv } from './config-providers.js';
import type { IdentitySettings } from './adapters/identity/providers.js';
import { operationLimits } from './domain/operations/limits.js';
import { paymentLimits } from './domain/payments/limits.js';
import { requestLimits } from './domain/requests/limits.js';

export { type ProviderConfig } from './config-providers.js';

/**
 * Everything the environment decides, as one frozen object. No other file reads the environment;
 * only the composition roots (api/index.ts, worker/index.ts, ops/index.ts, migrations/run.ts, lab/) import this one.
 */
export interface Config {
  /** Names this installation at the upstreams, so that one never touches another's pods (decision 22). */
  readonly deployment: string;
  readonly logLevel: string;
  readonly database: DatabaseConfig;
  readonly temporal: { readonly address: string; readonly namespace: string; readonly uiUrl: string };
  readonly api: {
    readonly host: string;
    readonly port: number;
    /** Where browsers reach the API, without a slash at the end. */
    readonly publicUrl: string;
    readonly dashboardUrl: string;
    readonly allowedOrigins: readonly string[];
    readonly secureCookie: boolean;
    readonly trustProxy: boolean;
    readonly readsPerMinute: number;
    readonly readsPerMinuteOfUser: number;
    readonly changesPerMinute: number;
    readonly strangersPerMinute: number;
  };
  /** Where Prometheus reads this process; port null: nowhere. 0 takes any free port. */
  readonly metrics: { readonly host: string; readonly port: number | null };
  readonly processor: ProcessorConfig;
  /** Who people can sign in with; null is one without credentials (decision 11). */
  readonly identity: IdentitySettings;
  /** operatorEmail: who is told of findings; null: the log only. */
  readonly mail: { readonly smtpUrl: string; readonly from: string; readonly operatorEmail: string | null };
  /** What auto-topup of an account may charge in a day, for accounts that are made from now on; null: no cap. */
  readonly autoTopupDailyCapCents: number | null;
  readonly meter: { readonly shards: number };
  /** What one operator may move alone, in cents (decision 87). */
  readonly orderSingleLimitCents: number;
  readonly providers: readonly ProviderConfig[];
  /** True only in the lab, whose pods live on loopback: elsewhere private addresses are never probed. */
  readonly allowPrivatePods: boolean;
}

const requestsPerMinute = Joi.number().integer().min(10).max(1_000_000);

const perMinute = Joi.number().integer().min(1).max(1_000_000_000);

const secret = Joi.string().trim().min(1);

const optional = Joi.string().trim().allow('').default('');

/** Half of what a provider of sign-ins needs is a fault; none of it disables the provider. */
const withClient = (id: string, value: Joi.StringSchema) =>
  Joi.when(id, { is: secret.required(), then: value.required(), otherwise: optional });

/** ID tokens are worth what the connection to their issuer is: without TLS only on this machine. */
const issuer = Joi.string()
  .trim()
  .uri({ scheme: ['https', 'http'] })
  .pattern(/^(https:|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/, 'https, or http on loopback');

/** Part of an address, and never in need of RFC 4013's preparation. */
const loginPassword = Joi.string()
  .pattern(/^[\w-]{8,200}$/)
  .empty('');

const schema = Joi.object({
  DEPLOYMENT: Joi.string()
    .pattern(/^[a-z0-9]{1,12}$/)
    .default('dev'),
  LOG_LEVEL: Joi.string().valid('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  DATABASE_URL: Joi.string()
    .uri({ scheme: ['postgres', 'postgresql'] })
    .required(),
  DATABASE_ROLE: Joi.string().valid('gpu_rental_api', 'gpu_rental_worker', 'gpu_rental_ops').empty(''),
  API_DATABASE_PASSWORD: loginPassword,
  WORKER_DATABASE_PASSWORD: loginPassword,
  OPS_DATABASE_PASSWORD: loginPassword,
  DATABASE_POOL_MAX: Joi.number().integer().min(2).max(200).default(20),
  DATABASE_OPEN_POOL_MAX: Joi.number().integer().min(1).max(100).default(20),
  DATABASE_METER_POOL_MAX: Joi.number().integer().min(1).max(257).empty(''),
  TEMPORAL_ADDRESS: Joi.string()
    .pattern(/^[^\s:]+:\d+$/)
    .required(),
  TEMPORAL_NAMESPACE: Joi.string().default('default'),
  TEMPORAL_UI_URL: Joi.string().uri().default('http://127.0.0.1:8233'),
  API_HOST: Joi.string().default('127.0.0.1'),
  API_PORT: Joi.number().port().default(8080),
  API_PUBLIC_URL: Joi.string().uri({ scheme: ['https', 'http'] }),
  DASHBOARD_URL: Joi.string().uri().required(),
  ALLOWED_ORIGINS: Joi.string().allow('').default(''),
  SECURE_COOKIE: Joi.boolean().default(true),
  TRUST_PROXY: Joi.boolean().default(false),
  GOOGLE_CLIENT_ID: optional,
  GOOGLE_CLIENT_SECRET: withClient('GOOGLE_CLIENT_ID', secret),
  GITHUB_CLIENT_ID: optional,
  GITHUB_CLIENT_SECRET: withClient('GITHUB_CLIENT_ID', secret),
  OIDC_CLIENT_ID: optional,
  OIDC_CLIENT_SECRET: withClient('OIDC_CLIENT_ID', secret),
  OIDC_ISSUER_URL: withClient('OIDC_CLIENT_ID', issuer),
  OIDC_NAME: Joi.string().trim().min(1).max(40).default('Single sign-on'),
  API_READS_PER_MINUTE: perMinute.default(requestLimits.readsPerMinute),
  API_USER_READS_PER_MINUTE: perMinute.default(requestLimits.readsPerMinuteOfUser),
  API_CHANGES_PER_MINUTE: perMinute.default(requestLimits.changesPerMinute),
  API_STRANGERS_PER_MINUTE: perMinute.default(requestLimits.strangersPerMinute),
  METRICS_HOST: Joi.string().default('127.0.0.1'),
  METRICS_PORT: Joi.number().port().empty(''),
  STRIPE_SECRET_KEY: Joi.string().trim().allow('').default(''),
  STRIPE_PUBLISHABLE_KEY: Joi.string().trim().allow('').default(''),
  STRIPE_WEBHOOK_SECRETS: Joi.when('STRIPE_SECRET_KEY', {
    is: Joi.string().trim().min(1).required(),
    then: secret.pattern(/^\s*[^\s,]+(\s*,\s*[^\s,]+)*\s*$/).required(),
    otherwise: Joi.string().allow('').default(''),
  }),
  STRIPE_API_URL: Joi.string().uri(),
  CHECKOUT_SUCCESS_URL: Joi.string().uri(),
  CHECKOUT_CANCEL_URL: Joi.string().uri(),
  SMTP_URL: Joi.string()
    .uri({ scheme: ['smtp', 'smtps'] })
    .required(),
  MAIL_FROM: Joi.string().default('GPU rental <no-reply@localhost>'),
  OPERATOR_EMAIL: Joi.string().trim().email({ tlds: false }).allow('').default(''),
  AUTO_TOPUP_DAILY_CAP_CENTS: Joi.number()
    .integer()
    .min(paymentLimits.minAutoTopupCents)
    .max(paymentLimits.maxDailyCapCents)
    .empty(''),
  METER_SHARDS: Joi.number().integer().min(1).max(256).default(1),
  ORDER_SINGLE_LIMIT_CENTS: Joi.number().integer().min(0).default(operationLimits.orderSingleLimitCents),
  LAB_PROVIDER_URL: Joi.string().uri(),
  LAB_PROVIDER_KEY: secret.when('LAB_PROVIDER_URL', { is: Joi.exist(), then: Joi.required() }),
  LAB_PROVIDER_DIALECTS: Joi.string()
    .pattern(/^\s*(shadeform|runpod)(\s*,\s*(shadeform|runpod))*\s*$/)
    .default('shadeform'),
  SHADEFORM_API_KEY: Joi.string().trim().allow('').default(''),
  SHADEFORM_API_URL: Joi.string().uri().default('https://api.shadeform.ai/v1'),
  SHADEFORM_REQUESTS_PER_MINUTE: requestsPerMinute.default(120),
  RUNPOD_API_KEY: Joi.string().trim().allow('').default(''),
  RUNPOD_API_URL: Joi.string().uri().default('https://api.runpod.io'),
  RUNPOD_REQUESTS_PER_MINUTE: requestsPerMinute.default(60),
}).options({ abortEarly: false, stripUnknown: true, convert: true });

interface Env extends DatabaseEnv, ProviderEnv, ProcessorEnv, IdentityEnv {
  DEPLOYMENT: string;
  LOG_LEVEL: string;
  TEMPORAL_ADDRESS: string;
  TEMPORAL_NAMESPACE: string;
  TEMPORAL_UI_URL: string;
  API_HOST: string;
  API_PORT: number;
  API_PUBLIC_URL?: string;
  ALLOWED_ORIGINS: string;
  SECURE_COOKIE: boolean;
  TRUST_PROXY: boolean;
  API_READS_PER_MINUTE: number;
  API_USER_READS_PER_MINUTE: number;
  API_CHANGES_PER_MINUTE: number;
  API_STRANGERS_PER_MINUTE: number;
  METRICS_HOST: string;
  METRICS_PORT?: number;
  STRIPE_WEBHOOK_SECRETS: string;
  SMTP_URL: string;
  MAIL_FROM: string;
  OPERATOR_EMAIL: string;
  AUTO_TOPUP_DAILY_CAP_CENTS?: number;
  ORDER_SINGLE_LIMIT_CENTS: number;
  LAB_PROVIDER_DIALECTS: string;
}

/** Thrown when the environment is not usable; its message names every fault at once and what to set. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(
      ['The configuration is not usable. Set these environment variables (.env.example explains each):']
        .concat(faults.map((fault) => `  - ${fault}`))
        .join('\n'),
    );
    this.name = 'ConfigError';
  }
}

/**
 * Reads and validates the environment.
 * @param env the variables, `process.env` unless told
 * @throws ConfigError naming every fault at once
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { error, value } = schema.validate(env) as { error?: Joi.ValidationError; value: Env };
  if (error) throw new ConfigError(error.details.map((detail) => detail.message));
  return freeze({
    deployment: value.DEPLOYMENT,
    logLevel: value.LOG_LEVEL,
    database: databaseOf(value),
    temporal: {
      address: value.TEMPORAL_ADDRESS,
      namespace: value.TEMPORAL_NAMESPACE,
      uiUrl: value.TEMPORAL_UI_URL,
    },
    api: {
      host: value.API_HOST,
      port: value.API_PORT,
      publicUrl: publicUrlOf(value),
      dashboardUrl: value.DASHBOARD_URL.replace(/\/$/, ''),
      allowedOrigins: list(value.ALLOWED_ORIGINS),
      secureCookie: value.SECURE_COOKIE,
      trustProxy: value.TRUST_PROXY,
      readsPerMinute: value.API_READS_PER_MINUTE,
      readsPerMinuteOfUser: value.API_USER_READS_PER_MINUTE,
      changesPerMinute: value.API_CHANGES_PER_MINUTE,
      strangersPerMinute: value.API_STRANGERS_PER_MINUTE,
    },
    metrics: { host: value.METRICS_HOST, port: value.METRICS_PORT ?? null },
    processor: processorOf(value, list(value.STRIPE_WEBHOOK_SECRETS)),
    identity: identityOf(value),
    mail: {
      smtpUrl: value.SMTP_URL,
      from: value.MAIL_FROM,
      operatorEmail: value.OPERATOR_EMAIL === '' ? null : value.OPERATOR_EMAIL,
    },
    autoTopupDailyCapCents: value.AUTO_TOPUP_DAILY_CAP_CENTS ?? null,
    meter: { shards: value.METER_SHARDS },
    orderSingleLimitCents: value.ORDER_SINGLE_LIMIT_CENTS,
    providers: providersOf(value, list(value.LAB_PROVIDER_DIALECTS)),
    allowPrivatePods: value.LAB_PROVIDER_URL !== undefined,
  });
}

/** Without one of its own, the API is reached where it listens, as in local development. */
function publicUrlOf(value: Env): string {
  const host = value.API_HOST.includes(':') ? `[${value.API_HOST}]` : value.API_HOST;
  return (value.API_PUBLIC_URL ?? `http://${host}:${value.API_PORT}`).replace(/\/$/, '');
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}
