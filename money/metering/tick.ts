import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { sqlStateOf, lockNotAvailable } from '../../adapters/postgres/sql-state.js';
import { meterArray, meterWallets, type KeptPlan, type Metered } from './meter.js';

/**
 * Looks at all meters of a shard, and locks the wallets in which something is due; a wallet that somebody else holds is
 * left to a later tick. The look before the lock may be out of date by then, which does no harm: metering looks again
 * under the lock. While operators have paused metering nothing is due (decision 37, "Brakes and the watermark"): usage is
 * a running total, and is charged later. The ids come as an array, in which the wallets are then found in the order of
 * their index (decision 118, "A million meters").
 *
 * A meter that follows its wallet is due when it has passed a whole cent since the look before, and so it needs nothing
 * written (decision 126, "Meters that are not written"). What was due and could not be locked is behind, and is taken by
 * the next look. A note that stands ahead of the clock, which was set back, says nothing of what follows since then: all
 * that follow are due. Nothing here can overflow, as one meter must not stop the look: what is older than 28 years counts as 28.
 */
const lockDueWallets = `
with shard as materialized (
  select at_ms, least(at_ms - coalesce(case when s.looked_ms <= at_ms then s.looked_ms end, 0), 3600000) as since_ms,
         s.behind
    from (select epoch_ms(clock_ms()) as at_ms) c
    left join meter_shards s on s.shard = :shard and s.shards = :shards
),
paused as materialized (
  select exists (select 1 from brakes where kind = 'metering') as metering
),
due as materialized (
  select wallet_id from (
    select wallet_id from (
      select wallet_id, price_per_hour_cents as price, charged_cents, follows_wallet, limit_ms,
             greatest(0, least((select at_ms from shard) - running_ms, 900000000000)) as ran_ms
        from meter_readings
       where :shards = 1 or mod(wallet_id, :shards) = :shard
    ) m
     where case when follows_wallet then price * ran_ms % 3600000 < price * (select since_ms from shard)
                else price * ran_ms / 3600000 > charged_cents end
        or limit_ms <= (select at_ms from shard)
    union all
    select wallet_id from meter_readings
     where rental_no = any (array(select rental_no from stop_requests where open))
       and (:shards = 1 or mod(wallet_id, :shards) = :shard)
    union all
    select unnest(behind) from shard
  ) all_due
   where not (select metering from paused)
),
locked as materialized (
  select w.id from wallets w
   where w.id = any (array(select wallet_id from due))
     and w.metering_blocked_at is null and w.id <> all (:resting::bigint[])
   order by w.id
     for no key update of w skip locked
)
select (select coalesce(array_agg(id), '{}')::text from locked) as ids,
       case when not (select metering from paused) then at_ms end as "atMs",
       array(
         select wallet_id from due
          where wallet_id not in (select id from locked union all
                                  select id from wallets where metering_blocked_at is not null)
          group by wallet_id
       )::text as behind
  from shard`;

/** What a look found. Ids of wallets go back as they came: as PostgreSQL writes an array. */
interface Look {
  /** Those that were locked. */
  readonly ids: string;
  /** Its instant, in milliseconds since 1970; null while metering is paused. */
  readonly atMs: number | null;
  /** Those in which something is due, and which were not locked; without those that are at fault. */
  readonly behind: string;
}

/** With more wallets behind than these, the next look begins where the last one began. */
const MOST_BEHIND = 100_000;

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
 * The plans that a connection keeps for its ticks. Planning each statement in each tick took as long as some hundred
 * entries do. They are made under the settings above, so nothing else runs under these names.
 */
const plans = {
  look: { name: 'tick-look' },
  meter: { name: 'tick-meter' },
} satisfies Record<string, KeptPlan>;

/**
 * Meters a shard's due wallets in one transaction. What comes due in others after its look is left to the next tick. Two
 * ticks at once do no harm: each skips the wallets that the other holds.
 */
export async function tick(db: Database, shard: Shard): Promise<Metered> {
  return db.transaction(async (trx) => {
    await trx.raw(forManyRows);
    const look = await lookAt(trx, shard, plans.look);
    const metered = await meterArray(trx, look.ids, plans.meter);
    await recordTick(trx, shard, { atMs: earlier(look.atMs, metered.atMs), behind: look.behind });
    return metered;
  });
}

/** The result of metering a shard part by part. */
export interface MeteredApart extends Metered {
  /** Wallets that were marked, because their rows are at fault (decision 29, "Broken wallets"). */
  readonly blocked: readonly { walletId: number; reason: string }[];
  /**
   * Wallets whose rows somebody else held for too long, that took too long, or that could not be marked: they are left to
   * a later tick.
   */
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
  const look = await lookAt(db, shard);
  const ids = idsOf(look.ids);
  const sum = new Sum();
  for (let from = 0; from < ids.length; from += PART_WALLETS) {
    const part = ids.slice(from, from + PART_WALLETS);
    if (part.length === 1 || !(await meterPart(db, part, sum))) await meterEach(db, part, sum, onPart);
    onPart();
  }
  await recordTick(db, shard, {
    atMs: earlier(look.atMs, sum.atMs),
    behind: arrayOf([...idsOf(look.behind), ...sum.behind]),
  });
  return sum;
}

class Sum implements MeteredApart {
  entries = 0;
  left = false;
  /** Without the parts that came into a pause: those are behind. */
  atMs = Infinity;
  readonly ended: Metered['ended'][number][] = [];
  readonly blocked: { walletId: number; reason: string }[] = [];
  readonly heldUp: number[] = [];
  /** Wallets that were not metered, but for those at fault. */
  readonly behind: number[] = [];

  add({ metered, left }: { metered: Metered; left: readonly number[] }): void {
    this.behind.push(...left);
    this.atMs = Math.min(this.atMs, metered.atMs ?? Infinity);
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
      if (isDataFault(error) && (await markBroken(db, id, error.message))) {
        sum.blocked.push({ walletId: id, reason: error.message });
      } else if (isDataFault(error) || isHeldUp(error)) {
        sum.heldUp.push(id);
        sum.behind.push(id);
      } else throw error;
    }
    onWallet();
  }
}

/** Marks a wallet whose rows are at fault. Returns whether that worked: it is left to a later tick otherwise. */
async function markBroken(db: Database, id: number, reason: string): Promise<boolean> {
  try {
    await db('wallets')
      .where({ id })
      .update({ metering_blocked_at: db.raw('clock_ms()'), metering_blocked_reason: reason });
    return true;
  } catch (error) {
    if (isDataFault(error) || isHeldUp(error)) return false;
    throw error;
  }
}

/**
 * Gives operators their time with a wallet whose rows are at fault, where that is so since an instant ahead (decision 195,
 * "Instants ahead").
 */
export async function beginBlocksAnew(db: Database): Promise<void> {
  await db('wallets')
    .whereRaw('metering_blocked_at > (select clock_ms())')
    .update({ metering_blocked_at: db.raw('clock_ms()') });
}

/** Meters those of these wallets that nobody else holds. Returns which were left: in a pause all. */
async function meterFree(
  db: Database,
  ids: readonly number[],
): Promise<{ metered: Metered; left: readonly number[] }> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { id: number }[] }>(lockFree, { ids: [...ids] });
    const free = new Set(rows.map(({ id }) => id));
    const metered = await meterWallets(trx, [...free]);
    return { metered, left: metered.atMs === null ? ids : ids.filter((id) => !free.has(id)) };
  });
}

const lockFree =
  'select id from wallets where id = any (:ids::bigint[]) order by id for no key update skip locked';

async function lookAt(
  db: Database | Transaction,
  { shard, shards, resting = [] }: Shard,
  plan?: KeptPlan,
): Promise<Look> {
  const { rows } = await db
    .raw<{ rows: Look[] }>(lockDueWallets, { shard, shards, resting })
    .options({ ...plan });
  const [look] = rows;
  if (!look) throw new Error('the look at the meters answered no row');
  return look;
}

function idsOf(array: string): number[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',').map(Number);
}

function arrayOf(ids: readonly number[]): string {
  return `{${ids.join(',')}}`;
}

/** The earlier one of a look's instant and that of the metering after it: a clock may be set back between them. */
function earlier(lookedMs: number | null, meteredMs: number | null): number | null {
  return lookedMs === null || meteredMs === null ? null : Math.min(lookedMs, meteredMs);
}

/**
 * Notes the tick, and where the next look begins: at the instant up to which this one looked and metered; where it last
 * began, when metering was paused or too many wallets are behind; at none, when the last look was that of another number
 * of shards. Where two ticks of a shard overlap, either's note will do: all that was due by its look is metered, or behind.
 */
async function recordTick(
  db: Database | Transaction,
  { shard, shards }: Shard,
  { atMs, behind }: Pick<Look, 'atMs' | 'behind'>,
): Promise<void> {
  await db.raw(
    `with look as (
       select case when cardinality(:behind::bigint[]) <= :most then :atMs::bigint end as at_ms
     )
     insert into meter_shards (shard, shards, ticks, last_tick_at, looked_ms, behind)
     select :shard, :shards, 1, clock_ms(), coalesce(at_ms, 0), case when at_ms is null then '{}' else :behind::bigint[] end
       from look
     on conflict (shard) do update
        set shards = excluded.shards, ticks = meter_shards.ticks + 1, last_tick_at = excluded.last_tick_at,
            looked_ms = case when excluded.looked_ms = 0 and meter_shards.shards = excluded.shards
                             then meter_shards.looked_ms else excluded.looked_ms end,
            behind = case when excluded.looked_ms = 0 and meter_shards.shards = excluded.shards
                          then meter_shards.behind else excluded.behind end`,
    { shard, shards, atMs, behind, most: MOST_BEHIND },
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
