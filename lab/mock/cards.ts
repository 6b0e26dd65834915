import type { Account } from './account.js';
import { switchOffAutoTopup } from './auto-topup-settings.js';
import { newProcessorId } from './processor-ids.js';
import type { World } from './world.js';

/** Saves a card in place of the one before. @param declines whether its bank declines every charge */
export function saveCard(world: World, account: Account, declines: boolean): void {
  const at = world.now();
  const { id: userId } = account.user;
  const former = account.card?.row.pm_id;
  if (former !== undefined) world.events.tell(userId, 'card.removed', former, { reason: 'replaced' });
  account.card = {
    declines,
    row: {
      pm_id: newProcessorId('pm'),
      user_id: account.user.id,
      // The endings of the processor's own test cards.
      brand: 'visa',
      last4: declines ? '0341' : '4242',
      fingerprint: null,
      exp_month: 12,
      exp_year: at.getUTCFullYear() + 4,
      set_up_at: at,
      saved_at: at,
      removed_at: null,
      removed_why: null,
      detached_at: null,
      expiry_noticed_at: null,
    },
  };
  const { pm_id: id, brand, last4 } = account.card.row;
  world.events.tell(userId, 'card.saved', id, { brand, last4 });
}

/**
 * Removes the saved card, which switches auto-topup off (decision 33, "Removal of a card"). @returns the removed card's
 * id
 */
export function removeCard(world: World, account: Account): string | undefined {
  const removed = account.card?.row.pm_id;
  account.card = undefined;
  const { id: userId } = account.user;
  if (removed !== undefined) world.events.tell(userId, 'card.removed', removed, { reason: 'user' });
  if (removed !== undefined) switchOffAutoTopup(world, account, 'card_removed');
  return removed;
}
