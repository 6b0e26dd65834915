import { cardExpiredMail } from '../../../domain/mails/payments.js';
import type { Database } from '../database.js';
import { mailUser } from '../upkeep/outbox.js';
import { isNotWaiting } from '../upkeep/stuck-items.js';
import type { SavedCardRow } from '../rows/tables.js';

/** Lists saved cards whose month is over and whose owners were not told; the first to expire come first. */
export async function listExpiredCards(db: Database): Promise<Pick<SavedCardRow, 'pm_id'>[]> {
  const { rows } = await db.raw<{ rows: Pick<SavedCardRow, 'pm_id'>[] }>(
    `select c.pm_id from saved_cards c
      where c.removed_at is null and c.expiry_noticed_at is null
        and (c.exp_year, c.exp_month) < (select extract(year from at)::int, extract(month from at)::int
                                           from (select clock_ms() at time zone 'UTC' as at) clock)
        and ${isNotWaiting('card_expiry', 'c.pm_id')}
      order by c.exp_year, c.exp_month limit 100`,
  );
  return rows;
}

/**
 * Tells a user, once, that their saved card has expired. It does nothing for a card that is removed meanwhile, or of
 * which the user was told.
 */
export async function noticeExpiredCard(db: Database, pmId: string): Promise<void> {
  await db.transaction(async (trx) => {
    const card = await trx('saved_cards')
      .where({ pm_id: pmId })
      .whereNull('removed_at')
      .whereNull('expiry_noticed_at')
      .forNoKeyUpdate()
      .first();
    if (!card) return;
    await mailUser(trx, card.user_id, { kind: 'card_expired', cardId: card.pm_id }, cardExpiredMail(card));
    await trx('saved_cards')
      .where({ pm_id: pmId })
      .update({ expiry_noticed_at: trx.raw('clock_ms()') });
  });
}
