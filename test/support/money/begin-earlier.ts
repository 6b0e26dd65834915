import type { Database } from '../../../adapters/postgres/database.js';
import type { RentalId } from '../../../domain/ids.js';

/**
 * Makes rentals that run look as if they had begun earlier, while the service meters them. It takes their wallets before
 * it changes their rows, as the service does: a tick that ends one would otherwise wait for it, and it for the tick.
 */
export async function beginEarlier(db: Database, ids: readonly RentalId[], seconds: number): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw(
      `select 1 from wallets where id in (select wallet_id from rentals where id = any (:ids))
        order by id for no key update`,
      { ids: [...ids] },
    );
    await trx('rentals')
      .whereIn('id', [...ids])
      .update({ running_at: trx.raw(`running_at - ? * interval '1 second'`, [seconds]) });
  });
}
