import type { Logger } from 'pino';
import type { Provider } from '../adapters/providers/provider.js';
import { createRunpodProvider } from '../adapters/providers/runpod.js';
import { createShadeformProvider } from '../adapters/providers/shadeform.js';
import type { ProviderConfig } from '../config.js';

const ADAPTERS = { shadeform: createShadeformProvider, runpod: createRunpodProvider };

/** The upstreams that are enabled by their credentials, by code. */
export function createProviders(
  configs: readonly ProviderConfig[],
  deployment: string,
  log: Logger,
): ReadonlyMap<string, Provider> {
  return new Map(
    configs.map(({ code, dialect, url, apiKey }) => [
      code,
      ADAPTERS[dialect]({
        code,
        url,
        apiKey,
        deployment,
        onOddity: (oddity) => log.info({ provider: code, oddity }, 'part of an upstream answer was skipped'),
      }),
    ]),
  );
}
