import type { Oddity } from '../provider.js';
import type { HttpClientOptions } from './http-client.js';
import type { RequestBudget } from './request-budget.js';

/** The limit of each call, in milliseconds (decision 20, "Wallet lock while buying"). */
export const CALL_LIMIT_MS = 5_000;

/** The settings of one upstream, whichever API it speaks. */
export interface ProviderOptions {
  /** Shown to users as `providerCode`; a cloud behind the upstream stays inside the offer's id. */
  readonly code: string;
  /** The address of the API. */
  readonly url: string;
  readonly apiKey: string;
  /** Where the http ports of its machines are open, with `{pod}` and `{port}`; default: the upstream's own domain. */
  readonly proxyUrl?: string | undefined;
  /**
   * The prefix, with a hyphen, of every name and tag of ours; pods without it are never listed nor ended (decision 22,
   * "Machines of nobody").
   */
  readonly deployment: string;
  /** The limit of each call, in milliseconds; `CALL_LIMIT_MS` by default. */
  readonly timeoutMs?: number;
  /** The budget of requests; without one, they are not limited. */
  readonly budget?: RequestBudget | undefined;
  /** Whether its machines can fetch from us what the upstream does not take, or should not have. */
  readonly machinesFetch?: boolean;
  /** Gets each oddity that was skipped or not understood in answers; once for each element of a list. */
  readonly onOddity?: (oddity: Oddity) => void;
}

/** The settings of an upstream's client, with its key as most take it. */
export function clientOptionsOf({
  url,
  apiKey,
  timeoutMs = CALL_LIMIT_MS,
  budget,
}: ProviderOptions): HttpClientOptions {
  return { url, headers: { authorization: `Bearer ${apiKey}` }, timeoutMs, budget };
}
