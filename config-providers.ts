/** One upstream that is enabled by its credentials. */
export interface ProviderConfig {
  readonly code: string;
  /** By whose API it is spoken to. */
  readonly dialect: 'shadeform' | 'runpod';
  readonly url: string;
  readonly apiKey: string;
  /** How many requests all our processes together may send. */
  readonly requestsPerMinute: number;
}

/** What config.ts has read and validated about the upstreams. */
export interface ProviderEnv {
  readonly LAB_PROVIDER_URL?: string;
  readonly LAB_PROVIDER_KEY?: string;
  readonly SHADEFORM_API_KEY: string;
  readonly SHADEFORM_API_URL: string;
  readonly SHADEFORM_REQUESTS_PER_MINUTE: number;
  readonly RUNPOD_API_KEY: string;
  readonly RUNPOD_API_URL: string;
  readonly RUNPOD_REQUESTS_PER_MINUTE: number;
}

/** The lab has no quota but this one. */
const LAB_REQUESTS_PER_MINUTE = 60_000;

/** The upstreams that are enabled by their credentials. @param labDialects the APIs that the lab is spoken to by */
export function providersOf(value: ProviderEnv, labDialects: readonly string[]): ProviderConfig[] {
  const real: ProviderConfig[] = [
    {
      ...{ code: 'shadeform', dialect: 'shadeform' },
      url: value.SHADEFORM_API_URL,
      apiKey: value.SHADEFORM_API_KEY,
      requestsPerMinute: value.SHADEFORM_REQUESTS_PER_MINUTE,
    },
    {
      ...{ code: 'runpod', dialect: 'runpod' },
      url: value.RUNPOD_API_URL,
      apiKey: value.RUNPOD_API_KEY,
      requestsPerMinute: value.RUNPOD_REQUESTS_PER_MINUTE,
    },
  ];
  return [...labProvidersOf(value, new Set(labDialects)), ...real.filter(({ apiKey }) => apiKey !== '')];
}

/** One lab speaks several dialects: each is a provider of its own. */
function labProvidersOf(value: ProviderEnv, dialects: ReadonlySet<string>): ProviderConfig[] {
  const { LAB_PROVIDER_URL: url, LAB_PROVIDER_KEY: apiKey } = value;
  if (url === undefined || apiKey === undefined) return [];
  const common = { url, apiKey, requestsPerMinute: LAB_REQUESTS_PER_MINUTE };
  const providers: ProviderConfig[] = [
    { code: 'lab', dialect: 'shadeform', ...common },
    { code: 'lab-runpod', dialect: 'runpod', ...common },
  ];
  return providers.filter(({ dialect }) => dialects.has(dialect));
}
