import { findChargeableCard, refreshCard } from '../../adapters/postgres/payments/saved-cards.js';
import { isMissing } from '../../adapters/processor/processor.js';
import type { UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Asks the processor what the saved card of a user is known by, where that was never asked: cards that were saved by
 * 0.1 (decision 79, "Charge marks"). It is asked before the charge begins, so that what begins it can look for marks
 * under its lock.
 * @throws ProcessorError when the processor can't be asked: it could not charge either
 */
export async function learnFingerprint(deps: ActivityDeps, userId: UserId): Promise<void> {
  const card = await findChargeableCard(deps.db, userId);
  if (card?.fingerprint !== null) return;
  try {
    await refreshCard(deps.db, await deps.processor.getCard(card.pm_id));
  } catch (error) {
    // The charge itself finds out that it is gone, and what follows.
    if (!isMissing(error)) throw error;
  }
}
