import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { sqlStateOf, lockNotAvailable } from '../../adapters/postgres/sql-state.js';
import { meterArray, type Metered } from './meter.js';

/**
 * Locks the wallets of a shard in which something is due; a wallet that somebody else holds is left to a later tick.
 * The look before the lock may be out of date by then, which does no harm: metering looks again under the lock. While
 * operators have paused metering nothing is due (decision 37, "Brakes and the watermark"): usage is a running total,
 * and is charged later. The ids come as an array, in which the wallets are then found in the order of their index
 * (decision 118, "A million meters").
 */
const lockDueWallets = `
select w.id from wallets w
 where w.id = any (array(
   select m.wallet_id from meters m
    where m.due_ms <= (select epoch_ms(clock_ms())) and (:shards = 1 or mod(m.wallet_id, :shards) = :shard)
   union all
   select m.wallet_id from meters m
    where m.rental_no = any (array(select rental_no from stop_requests where open)) and (:shards = 1 or mod(m.wallet_id, :shards) = :shard)
 )) and w.metering_blocked_at is null and w.id <> all (:resting::bigint[])
   and not exists (select 1 from brakes where kind = 'metering')
 order by w.id
   for no key update of w skip locked`;

/**
 * For the tick's transaction alone. Large sets are sorted and joined in memory, and never row by row, as the planner
 * takes them for small. Compiling a statement anew each second would cost more than it gains.
 */
const forManyRows = `select set_config('work_mem', '128MB', true), set_config('enable_nestloop', 'off', true),
                            set_config('jit', 'off', true)`;

export interface Shard {
  readonly shard: number;
  readonly shards: number;
  /** Wallets that are left to a later tick, because somebody else held up their rows a moment ago. */
  readonly resting?: readonly number[];
}

/** How many wallets are metered together after metering the whole shard has failed. */
const PART_WALLETS = 500;

/**
 * Meters a shard's due wallets in one transaction. Two ticks at once do no harm: each skips the wallets that the other
 * holds.
 */
export async function tick(db: Database, shard: Shard): Promise<Metered> {
  return db.transaction(async (trx) => {
    await trx.raw(forManyRows);
    const metered = await meterLocked(trx, lockDueWallets, bindingsOf(shard));
    await recordTick(trx, shard);
    return metered;
  });
}

/** The result of metering a shard part by part. */
export interface MeteredApart extends Metered {
  /** Wallets that were marked, because their rows are at fault (decision 29, "Broken wallets"). */
  readonly blocked: readonly { walletId: number; reason: string }[];
  /** Wallets whose rows somebody else held for too long, or that took too long: they are left to a later tick. */
  readonly heldUp: readonly number[];
}

/**
 * Meters a shard in parts after the whole has failed, and a part that fails wallet by wallet (decision 29, "Broken
 * wallets"). A wallet whose rows are at fault is marked with the reason. A wallet that somebody else holds up is left
 * to a later tick. All others go on.
 * @param onPart called after each part and each single wallet
 * @throws when the database can't be reached
 */
export async function tickApart(
  db: Database,
  shard: Shard,
  onPart: () => void = () => undefined,
): Promise<MeteredApart> {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(lockDueWallets, bindingsOf(shard));
  const sum = new Sum();
  for (let from = 0; from < rows.length; from += PART_WALLETS) {
    const ids = rows.slice(from, from + PART_WALLETS).map(({ id }) => id);
    if (ids.length === 1 || !(await meterPart(db, ids, sum))) await meterEach(db, ids, sum, onPart);
    onPart();
  }
  await recordTick(db, shard);
  return sum;
}

class Sum implements MeteredApart {
  entries = 0;
  left = false;
  readonly ended: Metered['ended'][number][] = [];
  readonly blocked: { walletId: number; reason: string }[] = [];
  readonly heldUp: number[] = [];

  add(metered: Metered): void {
    this.entries += metered.entries;
    this.ended.push(...metered.ended);
    this.left ||= metered.left;
  }
}

/** Meters these wallets together. Returns whether that worked. */
async function meterPart(db: Database, ids: readonly number[], sum: Sum): Promise<boolean> {
  try {
    sum.add(await meterFree(db, ids));
    return true;
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return false;
  }
}

async function meterEach(
  db: Database,
  ids: readonly number[],
  sum: Sum,
  onWallet: () => void,
): Promise<void> {
  for (const id of ids) {
    try {
      sum.add(await meterFree(db, [id]));
    } catch (error) {
      if (isDataFault(error)) {
        const reason = error.message;
        await db('wallets')
          .where({ id })
          .update({ metering_blocked_at: db.raw('clock_ms()'), metering_blocked_reason: reason });
        sum.blocked.push({ walletId: id, reason });
      } else if (isHeldUp(error)) sum.heldUp.push(id);
      else throw error;
    }
    onWallet();
  }
}

/** Meters those of these wallets that nobody else holds. */
async function meterFree(db: Database, ids: readonly number[]): Promise<Metered> {
  return db.transaction(async (trx) => {
    return meterLocked(trx, lockFree, { ids: [...ids] });
  });
}

const lockFree =
  'select id from wallets where id = any (:ids::bigint[]) order by id for no key update skip locked';

/** Meters the wallets that a statement locks. Their ids go back as they came, in one array. */
async function meterLocked(
  trx: Transaction,
  lock: string,
  bindings: Record<string, unknown>,
): Promise<Metered> {
  const { rows } = await trx.raw<{ rows: { ids: string }[] }>(
    `select coalesce(array_agg(id), '{}')::text as ids from (${lock}) locked`,
    bindings,
  );
  return meterArray(trx, rows[0]?.ids ?? '{}');
}

function bindingsOf({ shard, shards, resting = [] }: Shard): Record<string, unknown> {
  return { shard, shards, resting };
}

async function recordTick(db: Database | Transaction, { shard, shards }: Shard): Promise<void> {
  await db.raw(
    `insert into meter_shards (shard, shards, ticks, last_tick_at) values (:shard, :shards, 1, clock_ms())
     on conflict (shard) do update
        set shards = excluded.shards, ticks = meter_shards.ticks + 1, last_tick_at = excluded.last_tick_at`,
    { shard, shards },
  );
}

/**
 * Tells whether the rows themselves are at fault (SQLSTATE classes 22, 23, P0), and not the server: the fault would
 * come again.
 */
function isDataFault(error: unknown): error is Error {
  return /^(22|23|P0)/.test(sqlStateOf(error) ?? '');
}

/**
 * Tells whether others hold the rows (lock_timeout, deadlock), or the rows take too long. Such rows are not waited for,
 * and not at fault.
 */
function isHeldUp(error: unknown): boolean {
  return [lockNotAvailable, '40P01', '57014', '25P04'].includes(sqlStateOf(error) ?? '');
}
