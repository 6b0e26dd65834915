import { endByOf } from '../../domain/dead-mans-switch.js';
import type { Database, Transaction } from './database.js';

/**
 * When an upstream shall end a new pod by itself, should we be gone: when the wallet's money ends.
 * @param addedPerHourCents the price of the new pod, which no meter counts yet
 */
export async function paidUntil(
  db: Database | Transaction,
  walletId: number,
  addedPerHourCents: number,
): Promise<Date> {
  const { rows } = await db.raw<{ rows: { funds: number; burn: number; now_ms: number }[] }>(
    `select w.available_cents + w.reserved_cents as funds, epoch_ms(clock_ms()) as now_ms,
            (select coalesce(sum(price_per_hour_cents), 0)::bigint from meters where wallet_id = w.id) as burn
       from wallets w where w.id = ?`,
    [walletId],
  );
  const [row] = rows;
  if (!row) throw new Error(`no wallet ${walletId}`);
  return endByOf(row.funds, row.burn + addedPerHourCents, row.now_ms);
}
