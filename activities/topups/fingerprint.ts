import { findChargeableCard, refreshCard } from '../../adapters/postgres/payments/saved-cards.js';
import { isMissing } from '../../adapters/processor/processor.js';
import type { UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Asks the processor for the fingerprint of a user's saved card where that was never asked: 0.1 saved such cards
 * (decision 79, "Charge marks"). It asks before the charge begins, so that the beginning of the charge can look for
 * marks under its lock.
 * @throws ProcessorError when the processor can't be asked: it could not charge either
 */
export async function learnFingerprint(deps: ActivityDeps, userId: UserId): Promise<void> {
  const card = await findChargeableCard(deps.db, userId);
  if (card?.fingerprint !== null) return;
  try {
    await refreshCard(deps.db, await deps.processor.getCard(card.pm_id));
  } catch (error) {
    // The card is gone: the charge itself finds that out, and what follows.
    if (!isMissing(error)) throw error;
  }
}
