import { fieldsOf, findList, numberField, textField } from '../upstream/fields.js';
import { ProviderError, type AccountBalance } from '../provider.js';
import type { Upstream } from '../upstream/upstream.js';

/**
 * RunPod's REST description does not say where a balance is read. Its GraphQL API does, as its own command line uses it
 * (`runpodctl user`): the balance and the hourly cost of what runs, in US dollars.
 */
const QUERY = 'query { myself { clientBalance currentSpendPerHr } }';

/**
 * Reads the balance of the API key's account.
 * @throws ProviderError when the answer has none; GraphQL reports its errors with HTTP 200 as well
 */
export async function readRunpodBalance(upstream: Upstream): Promise<AccountBalance> {
  const what = 'reading the balance';
  const { body } = await upstream.call(what, {
    method: 'POST',
    path: '/graphql',
    body: { query: QUERY },
    // It changes nothing, although it is a POST.
    use: 'reading',
    repeatable: true,
  });
  const fields = fieldsOf(body);
  const myself = fieldsOf(fieldsOf(fields['data'])['myself']);
  const balanceUsd = numberField(myself, 'clientBalance');
  const burnUsd = numberField(myself, 'currentSpendPerHr');
  if (balanceUsd === null || burnUsd === null) {
    const [error] = findList(fields, 'errors') ?? [];
    const words = textField(fieldsOf(error), 'message')?.slice(0, 300) ?? 'no balance in the answer';
    throw new ProviderError('unknown', `${what}: ${words}`);
  }
  return {
    balanceCents: Math.floor(centsOf(balanceUsd)),
    burnCentsPerHour: Math.max(0, Math.ceil(centsOf(burnUsd))),
  };
}

/** Returns cents without the noise of the binary form: 0.29 USD are 29 cents. */
function centsOf(usd: number): number {
  return Math.round(usd * 100_000) / 1_000;
}
