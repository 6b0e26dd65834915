import type { Database, Transaction } from '../database.js';
import { meterWallets, type Metered } from './meter.js';

/**
 * The wallets of a shard in which something is due, locked; one that somebody else holds is left to a later tick.
 * The look before the lock may be out of date by then, which does no harm: metering looks again under the lock.
 * The elapsed time is capped at ten years so that a broken row can't make the look itself overflow.
 * While operators have paused metering nothing is due (decision 37): usage is a running total, and is charged later.
 */
const lockDueWallets = `
select w.id from wallets w
 where w.id in (
   select m.wallet_id
     from meters m
     cross join (select epoch_ms(clock_ms()) as ms) clock
     left join stop_requests s on s.rental_no = m.rental_no and s.open
    where (:shards = 1 or mod(m.wallet_id, :shards) = :shard)
      and (m.price_per_hour_cents * least(clock.ms - m.running_ms, 315360000000) / 3600000 > m.charged_cents
           or s.requested_ms is not null or m.limit_ms <= clock.ms)
 ) and w.metering_blocked_at is null and not exists (select 1 from brakes where kind = 'metering')
 order by w.id
   for no key update of w skip locked`;

export interface Shard {
  readonly shard: number;
  readonly shards: number;
}

/** Meters a shard's due wallets in one transaction. Two ticks at once do no harm: each skips what the other holds. */
export async function tick(db: Database, shard: Shard): Promise<Metered> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { id: number }[] }>(lockDueWallets, { ...shard });
    const metered = await meterWallets(
      trx,
      rows.map((row) => row.id),
    );
    await recordTick(trx, shard);
    return metered;
  });
}

/**
 * The same, wallet by wallet, after the whole has failed (decision 29): the wallet that can't be metered is marked
 * with the reason, all others go on.
 * @returns what was metered, and the wallets that were marked
 */
export async function tickOneByOne(
  db: Database,
  shard: Shard,
): Promise<Metered & { blocked: { walletId: number; reason: string }[] }> {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(lockDueWallets, { ...shard });
  const ids = rows.map((row) => row.id);
  const done = { entries: 0, ended: [] as Metered['ended'][number][], left: false };
  const blocked: { walletId: number; reason: string }[] = [];
  for (const id of ids) {
    try {
      const metered = await meterOne(db, id);
      done.entries += metered.entries;
      done.ended.push(...metered.ended);
      done.left ||= metered.left;
    } catch (error) {
      if (!isDataFault(error)) throw error;
      const reason = error.message;
      await db('wallets')
        .where({ id })
        .update({ metering_blocked_at: db.raw('clock_ms()'), metering_blocked_reason: reason });
      blocked.push({ walletId: id, reason });
    }
  }
  await recordTick(db, shard);
  return { ...done, blocked };
}

async function meterOne(db: Database, walletId: number): Promise<Metered> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { id: number }[] }>(
      'select id from wallets where id = ? for no key update skip locked',
      [walletId],
    );
    return meterWallets(
      trx,
      rows.map((row) => row.id),
    );
  });
}

async function recordTick(db: Database | Transaction, { shard, shards }: Shard): Promise<void> {
  await db.raw(
    `insert into meter_shards (shard, shards, ticks, last_tick_at) values (:shard, :shards, 1, clock_ms())
     on conflict (shard) do update
        set shards = excluded.shards, ticks = meter_shards.ticks + 1, last_tick_at = excluded.last_tick_at`,
    { shard, shards },
  );
}

/** A fault of the rows themselves (SQLSTATE classes 22, 23, P0), which would come again; not one of the server. */
function isDataFault(error: unknown): error is Error {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(22|23|P0)/.test(code);
}
