import type { Database } from '../adapters/postgres/database.js';
import { createRequestBudget } from '../adapters/postgres/requests/request-budgets.js';
import type { OddityBook } from '../adapters/providers/upstream/oddity-book.js';
import type { Provider } from '../adapters/providers/provider.js';
import { createLambdaProvider } from '../adapters/providers/lambda/lambda.js';
import { createRunpodProvider } from '../adapters/providers/runpod/runpod.js';
import { createShadeformProvider } from '../adapters/providers/shadeform/shadeform.js';
import { createVastProvider } from '../adapters/providers/vast/vast.js';
import type { ProviderConfig } from '../config.js';

const ADAPTERS = {
  shadeform: createShadeformProvider,
  runpod: createRunpodProvider,
  vast: createVastProvider,
  lambda: createLambdaProvider,
};

/** Makes the upstreams that their credentials enable, by code. */
export function createProviders(
  configs: readonly ProviderConfig[],
  parts: {
    readonly deployment: string;
    readonly db: Database;
    readonly oddities: OddityBook;
    readonly machinesFetch: boolean;
  },
): ReadonlyMap<string, Provider> {
  const { deployment, db, oddities, machinesFetch } = parts;
  return new Map(
    configs.map(({ code, dialect, url, apiKey, proxyUrl, requestsPerMinute }) => [
      code,
      ADAPTERS[dialect]({
        code,
        url,
        apiKey,
        proxyUrl,
        deployment,
        machinesFetch,
        budget: createRequestBudget(db, code, requestsPerMinute),
        onOddity: (oddity) => oddities.note(code, oddity),
      }),
    ]),
  );
}
