import { recordBalance } from '../../adapters/postgres/catalog/provider-health.js';
import type { Provider } from '../../adapters/providers/provider.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Reads what our account at an upstream still holds. Never fails: a balance that can't be read says nothing about
 * machines, and its age is shown (`provider_balance_age_seconds`).
 */
export async function readBalance(deps: ActivityDeps, provider: Provider): Promise<void> {
  try {
    const balance = await provider.readBalance?.();
    if (balance !== undefined) await recordBalance(deps.db, provider.code, balance);
  } catch (error) {
    deps.log.warn({ provider: provider.code, err: error }, 'the balance could not be read; asking again');
  }
}
