import { lowBalanceMail } from '../../../domain/mails/wallet.js';
import type { Database } from '../database.js';
import { burnSql, fundsSql } from '../rentals/meter-reads.js';
import { insertMail } from '../upkeep/outbox.js';

interface Low {
  wallet_id: number;
  email: string;
  low_since: Date | null;
  funds_cents: number;
  burn_cents: number;
}

/**
 * Leaves the mail that warns of a low balance and acknowledges the intent, in one transaction. Each crossing has one
 * mail: its cause names the instant of the crossing. A wallet that was topped up meanwhile gets none.
 */
export async function warnOfLowBalance(db: Database, intentId: number): Promise<void> {
  await db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: Low[] }>(
      `select w.id as wallet_id, u.email, w.low_since, ${fundsSql('w')} as funds_cents, ${burnSql('w')} as burn_cents
         from intents i join wallets w on w.id = i.wallet_id join users u on u.id = w.user_id where i.id = ?
          for key share of u`,
      [intentId],
    );
    const low = rows[0];
    if (low?.low_since && low.burn_cents > 0) {
      await insertMail(trx, {
        cause: { kind: 'low_balance', walletId: low.wallet_id, since: low.low_since },
        recipient: low.email,
        message: lowBalanceMail({ fundsCents: low.funds_cents, burnCents: low.burn_cents }),
        wipeAfterSending: false,
      });
    }
    await trx('intents')
      .where({ id: intentId })
      .update({ acknowledged_at: trx.raw('clock_ms()') });
  });
}
