import { groupedBy } from '../../domain/grouped.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import { runwaySeconds } from '../../domain/metering/runway.js';
import type { StopReason } from '../../domain/rentals/rental.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvents } from '../../adapters/postgres/events/outbox.js';
import { burnSql, fundsSql } from '../../adapters/postgres/rentals/meter-reads.js';

/**
 * Tells of the rentals whose billing a pass of metering has ended, and of the wallets whose money was over by it. It is
 * the only teller of these ends: metering turns a rental's state once.
 */
export async function tellEnded(trx: Transaction, ids: readonly RentalId[]): Promise<void> {
  const { rows } = await trx.raw<{
    rows: { id: RentalId; userId: UserId; reason: StopReason; stoppedAt: Date }[];
  }>(
    `select id, user_id as "userId", stop_reason as reason, ended_at as "stoppedAt"
       from rentals where id = any (:ids::text[]) order by no`,
    { ids: [...ids] },
  );
  await recordEvents(
    trx,
    'rental.stopping',
    rows.map(({ id, userId, reason, stoppedAt }) => ({
      userId,
      entityId: id,
      data: { reason, stoppedAt: stoppedAt.toISOString() },
    })),
  );
  const unpaid = groupedBy(
    rows.filter(({ reason }) => reason === 'balance_exhausted'),
    ({ userId }) => userId,
  );
  await recordEvents(
    trx,
    'wallet.exhausted',
    [...unpaid].map(([userId, ended]) => ({
      userId,
      entityId: userId,
      data: { rentalIds: ended.map(({ id }) => id) },
    })),
  );
}

/** Tells of the wallets that became low by a pass of metering (`low_since`), once for each time that one does. */
export async function tellLow(trx: Transaction, walletIds: readonly number[]): Promise<void> {
  const { rows } = await trx.raw<{
    rows: { userId: UserId; balanceCents: number; fundsCents: number; burnPerHourCents: number }[];
  }>(
    `select w.user_id as "userId", w.available_cents + w.reserved_cents as "balanceCents",
            ${fundsSql('w')} as "fundsCents", ${burnSql('w')} as "burnPerHourCents"
       from wallets w where w.id = any (:walletIds::bigint[]) order by w.id`,
    { walletIds: [...walletIds] },
  );
  await recordEvents(
    trx,
    'wallet.low',
    rows.map(({ userId, balanceCents, fundsCents, burnPerHourCents }) => ({
      userId,
      entityId: userId,
      data: {
        balanceCents,
        burnPerHourCents,
        runwaySeconds: runwaySeconds(fundsCents, burnPerHourCents),
      },
    })),
  );
}
