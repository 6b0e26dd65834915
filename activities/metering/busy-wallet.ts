import { ApplicationFailure } from '@temporalio/activity';
import { isWalletBusy } from '../../adapters/postgres/requests/user-turns.js';
import { meteringLimits } from '../../domain/metering/limits.js';

/**
 * Lets go for a moment of a wallet that somebody else holds. Others have the connection and the slot meanwhile, and the
 * pause does not grow with each try, as it would by the retry policy.
 * @throws ApplicationFailure `wallet_busy`, which is retried
 */
export async function laterWhenBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isWalletBusy(error)) throw error;
    throw ApplicationFailure.create({
      type: 'wallet_busy',
      message: 'somebody else holds the wallet; asking again',
      nextRetryDelay: meteringLimits.busyWalletRetryMs,
    });
  }
}
