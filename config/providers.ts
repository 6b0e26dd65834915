import Joi from 'joi';
import {
  filled,
  integer,
  itemsOf,
  optional,
  text,
  trimmed,
  url,
  withDefault,
  yesOrNo,
  type ValuesOf,
} from './variables.js';

/** The APIs that the service speaks. */
const dialects = ['shadeform', 'runpod', 'vast', 'lambda'] as const;

/** One upstream that its credentials enable. */
export interface ProviderConfig {
  readonly code: string;
  /** The API by which the service speaks to it. */
  readonly dialect: (typeof dialects)[number];
  readonly url: string;
  readonly apiKey: string;
  /** Where its machines' http ports are open, if that is not the upstream's own domain. */
  readonly proxyUrl?: string;
  /** The number of requests that all our processes together may send. */
  readonly requestsPerMinute: number;
}

const requestsPerMinute = integer(10, 1_000_000);
const oneOf = dialects.join('|');

/** The upstreams: each is enabled by its key. */
export const providerVariables = {
  LAB_PROVIDER_URL: optional(url()),
  LAB_PROVIDER_KEY: optional(
    filled.when('LAB_PROVIDER_URL', { is: trimmed.required(), then: Joi.required() }),
  ),
  LAB_PROVIDER_DIALECTS: withDefault(
    text.pattern(new RegExp(`^\\s*(${oneOf})(\\s*,\\s*(${oneOf}))*\\s*$`)),
    'shadeform',
  ),
  /** For trials alone: machines on loopback and on private addresses are entered and rented out. */
  ALLOW_PRIVATE_MACHINES: withDefault(yesOrNo, false),
  SHADEFORM_API_KEY: withDefault(trimmed, ''),
  SHADEFORM_API_URL: withDefault(url(), 'https://api.shadeform.ai/v1'),
  SHADEFORM_REQUESTS_PER_MINUTE: withDefault(requestsPerMinute, 120),
  RUNPOD_API_KEY: withDefault(trimmed, ''),
  RUNPOD_API_URL: withDefault(url(), 'https://api.runpod.io'),
  RUNPOD_REQUESTS_PER_MINUTE: withDefault(requestsPerMinute, 60),
  VAST_API_KEY: withDefault(trimmed, ''),
  VAST_API_URL: withDefault(url(), 'https://console.vast.ai'),
  VAST_REQUESTS_PER_MINUTE: withDefault(requestsPerMinute, 120),
  LAMBDA_API_KEY: withDefault(trimmed, ''),
  LAMBDA_API_URL: withDefault(url(), 'https://cloud.lambda.ai'),
  LAMBDA_REQUESTS_PER_MINUTE: withDefault(requestsPerMinute, 60),
};

type ProviderValues = ValuesOf<typeof providerVariables>;

/** The lab has no quota but this one. */
const LAB_REQUESTS_PER_MINUTE = 60_000;

/** The upstreams that their credentials enable. */
export function providersOf(env: ProviderValues): ProviderConfig[] {
  const real: ProviderConfig[] = [
    {
      code: 'shadeform',
      dialect: 'shadeform',
      url: env.SHADEFORM_API_URL,
      apiKey: env.SHADEFORM_API_KEY,
      requestsPerMinute: env.SHADEFORM_REQUESTS_PER_MINUTE,
    },
    {
      code: 'runpod',
      dialect: 'runpod',
      url: env.RUNPOD_API_URL,
      apiKey: env.RUNPOD_API_KEY,
      requestsPerMinute: env.RUNPOD_REQUESTS_PER_MINUTE,
    },
    {
      code: 'vast',
      dialect: 'vast',
      url: env.VAST_API_URL,
      apiKey: env.VAST_API_KEY,
      requestsPerMinute: env.VAST_REQUESTS_PER_MINUTE,
    },
    {
      code: 'lambda',
      dialect: 'lambda',
      url: env.LAMBDA_API_URL,
      apiKey: env.LAMBDA_API_KEY,
      requestsPerMinute: env.LAMBDA_REQUESTS_PER_MINUTE,
    },
  ];
  return [...labProvidersOf(env), ...real.filter(({ apiKey }) => apiKey !== '')];
}

/** One lab speaks several dialects: each is a provider of its own. */
function labProvidersOf(env: ProviderValues): ProviderConfig[] {
  const { LAB_PROVIDER_URL: url, LAB_PROVIDER_KEY: apiKey } = env;
  if (url === null || apiKey === null) return [];
  const common = { apiKey, requestsPerMinute: LAB_REQUESTS_PER_MINUTE };
  const below = (path: string) => `${url.replace(/\/+$/, '')}/${path}`;
  const providers: ProviderConfig[] = [
    { code: 'lab', dialect: 'shadeform', url, ...common },
    { code: 'lab-runpod', dialect: 'runpod', url, proxyUrl: below('proxy/{pod}-{port}/'), ...common },
    { code: 'lab-vast', dialect: 'vast', url: below('vast'), ...common },
    { code: 'lab-lambda', dialect: 'lambda', url: below('lambda'), ...common },
  ];
  const spoken = new Set<string>(itemsOf(env.LAB_PROVIDER_DIALECTS));
  return providers.filter(({ dialect }) => spoken.has(dialect));
}
