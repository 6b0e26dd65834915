import type { RentalId, UserId } from '../../../domain/ids.js';
import type { Label, Labels } from '../../../domain/rentals/labels.js';
import type { RentalStatus } from '../../../domain/rentals/rental.js';
import type { Database, Transaction } from '../database.js';
import type { RentalRow } from '../rows/tables.js';
import { withWaiting, type WaitingFacts } from './progress-reads.js';

/**
 * A rental with its labels, the facts of its wait for a machine (null when it does not wait), and its machine's last
 * answer to a probe; null before the first list showed it.
 */
export type RentalWithHealth = ReadRental & { waiting: WaitingFacts | null };

type ReadRental = RentalRow & {
  /** null for none. */
  labels: Labels | null;
  silent_probes: number | null;
  host_key_changed: boolean | null;
};

/** Finds a user's rental; undefined for another user's, as for none (decision 5, "Foreign ids"). */
export async function findRental(
  db: Database | Transaction,
  userId: UserId,
  id: RentalId,
): Promise<RentalWithHealth | undefined> {
  const row = await withHealth(db).where({ 'r.id': id, 'r.user_id': userId }).first();
  return row && (await withWaiting(db, [row]))[0];
}

function withHealth(db: Database | Transaction) {
  return db({ r: 'rentals_now' })
    .leftJoin({ p: 'pods' }, (join) =>
      join.on('p.provider_code', 'r.provider_code').andOn('p.pod_id', 'r.pod_id'),
    )
    .select<ReadRental[]>(
      'r.*',
      'p.silent_probes',
      'p.host_key_changed',
      db.raw(
        '(select json_object_agg(key, value order by place) from rental_labels where rental_no = r.no) as labels',
      ),
    );
}

/**
 * Lists a user's rentals, newest first.
 * @param filter.label only those that have this label
 * @param beforeNo the last one's number of the page before
 */
export async function listRentals(
  db: Database,
  userId: UserId,
  { status, label }: { readonly status?: RentalStatus | undefined; readonly label?: Label | undefined },
  beforeNo: number | undefined,
  limit: number,
): Promise<RentalWithHealth[]> {
  const query = withHealth(db).where({ 'r.user_id': userId }).orderBy('r.no', 'desc').limit(limit);
  if (status !== undefined) void query.where({ 'r.status': status });
  if (label !== undefined) {
    const labelled = db('rental_labels')
      .where({ user_id: userId, ...label })
      .select('rental_no');
    void query.whereIn('r.no', labelled);
  }
  if (beforeNo !== undefined) void query.where('r.no', '<', beforeNo);
  return withWaiting(db, await query);
}

/** The values of a meter besides the rental itself. */
export interface MeterReading {
  readonly rental: RentalRow;
  /** Running time that is or will be billed, in milliseconds, up to now. */
  readonly elapsedMs: number;
  /** The last round of the tick engine of the rental's wallet; null before the first. */
  readonly lastTickAt: Date | null;
}

/**
 * Reads a rental's meter now, by the database's clock: billing ends at the first of stop request, limits and end
 * (decision 17, "The meter on read", and decision 25, "Usage as running total").
 * @param shards how many shards the wallets are hashed to
 */
export async function findMeterReading(
  db: Database,
  userId: UserId,
  id: RentalId,
  shards: number,
): Promise<MeterReading | undefined> {
  const { rows } = await db.raw<{ rows: (RentalRow & { elapsed_ms: number; last_tick_at: Date | null })[] }>(
    `select r.*, m.last_tick_at,
            case when r.running_at is null then 0 else greatest(0, epoch_ms(
              least(clock_ms(), s.requested_at, r.auto_stop_at, r.spend_limit_at, r.ended_at)) - r.running_ms)
            end as elapsed_ms
     from rentals_now r
     left join stop_requests s on s.rental_no = r.no
     left join meter_shards m on m.shard = r.wallet_id % :shards
     where r.id = :id and r.user_id = :userId`,
    { id, userId, shards },
  );
  const row = rows[0];
  return row && { rental: row, elapsedMs: row.elapsed_ms, lastTickAt: row.last_tick_at };
}
