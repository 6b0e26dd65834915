import { requestLimits } from '../domain/requests/limits.js';
import {
  integer,
  itemsOf,
  optional,
  port,
  required,
  text,
  trimmed,
  url,
  withDefault,
  withoutSlash,
  yesOrNo,
  type ValuesOf,
} from './variables.js';

const perMinute = integer(1, 1_000_000_000);

/** The API's address, the origins that may call it from a browser, and its limits of requests. */
export const apiVariables = {
  API_HOST: withDefault(text, '127.0.0.1'),
  API_PORT: withDefault(port, 8080),
  API_PUBLIC_URL: optional(url('https', 'http')),
  DASHBOARD_URL: required(url()),
  ALLOWED_ORIGINS: withDefault(trimmed, ''),
  ALLOWED_HOSTS: withDefault(trimmed, ''),
  SECURE_COOKIE: withDefault(yesOrNo, true),
  TRUST_PROXY: withDefault(yesOrNo, false),
  PUBLIC_PRICES: withDefault(yesOrNo, false),
  API_READS_PER_MINUTE: withDefault(perMinute, requestLimits.readsPerMinute),
  API_USER_READS_PER_MINUTE: withDefault(perMinute, requestLimits.readsPerMinuteOfUser),
  API_CHANGES_PER_MINUTE: withDefault(perMinute, requestLimits.changesPerMinute),
  API_STRANGERS_PER_MINUTE: withDefault(perMinute, requestLimits.strangersPerMinute),
};

type ApiValues = ValuesOf<typeof apiVariables>;

/** The API's part of the configuration. */
export function apiOf(env: ApiValues) {
  return {
    host: env.API_HOST,
    port: env.API_PORT,
    /** Where browsers reach the API, without a slash at the end. */
    publicUrl: publicUrlOf(env),
    dashboardUrl: withoutSlash(env.DASHBOARD_URL),
    allowedOrigins: itemsOf(env.ALLOWED_ORIGINS),
    /** As `host:port`; null: any. */
    allowedHosts: env.ALLOWED_HOSTS === '' ? null : itemsOf(env.ALLOWED_HOSTS),
    secureCookie: env.SECURE_COOKIE,
    trustProxy: env.TRUST_PROXY,
    publicPrices: env.PUBLIC_PRICES,
    readsPerMinute: env.API_READS_PER_MINUTE,
    readsPerMinuteOfUser: env.API_USER_READS_PER_MINUTE,
    changesPerMinute: env.API_CHANGES_PER_MINUTE,
    strangersPerMinute: env.API_STRANGERS_PER_MINUTE,
  };
}

/** Without a configured address, browsers reach the API where it listens, as in local development. */
function publicUrlOf(env: ApiValues): string {
  const host = env.API_HOST.includes(':') ? `[${env.API_HOST}]` : env.API_HOST;
  return withoutSlash(env.API_PUBLIC_URL ?? `http://${host}:${env.API_PORT}`);
}
