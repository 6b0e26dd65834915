import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import type { IdleGuard } from '../../../domain/rentals/idle-guard.js';
import type { RentalWords } from '../../../domain/rentals/words.js';
import type { Database, Transaction } from '../database.js';
import { runPrepared, ReadAhead, type Prepared } from '../prepared.js';
import type { PodRow, RentalRow } from '../rows/tables.js';
import { withWaiting, type WaitingFacts } from './progress-reads.js';

/**
 * A rental with its words, the facts of its wait for a machine (null when it does not wait), and its machine's last
 * answer to a probe; null before the first list showed it.
 */
export type RentalWithHealth = ReadRental & { waiting: WaitingFacts | null };

type ReadRental = RentalRow &
  RentalWords & {
    silent_probes: number | null;
    pod_host: PodRow['host'];
    pod_ports: PodRow['ports'];
    host_key_changed: boolean | null;
    idle_guard: ReadGuard | null;
  };

/** A rental's guard; its instants as JSON has them. */
type ReadGuard = IdleGuard & {
  readonly idle_since: string | null;
  readonly stops_at: string | null;
  readonly keep_alive_until: string | null;
};

const guardOfRental = `(select to_json(g) from idle_guards g where g.rental_no = r.no) as idle_guard`;

const rentalOfUser: Prepared<readonly [RentalId, UserId, ApiKeyId | null]> = {
  name: 'rental_of_user',
  sql: `select r.*, p.silent_probes, p.host_key_changed, p.host as pod_host, p.ports as pod_ports,
               (select json_object_agg(key, value order by place) from rental_labels where rental_no = r.no) as labels,
               ${guardOfRental}
          from rentals_now r left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
         where r.id = $1 and r.user_id = $2 and ($3::text is null or r.api_key_id = $3)`,
};

/**
 * Finds a user's rental; undefined for another user's, as for none (decision 5, "Foreign ids").
 * @param onlyOf a key: then those of the user's other keys and sessions are none either
 * @param ahead where it may have been read already
 */
export async function findRental(
  db: Database | Transaction,
  userId: UserId,
  id: RentalId,
  onlyOf?: ApiKeyId,
  ahead?: ReadAhead,
): Promise<RentalWithHealth | undefined> {
  const values = [id, userId, onlyOf ?? null] as const;
  const [row] = await runPrepared<ReadRental, typeof values>(db, rentalOfUser, values, ahead);
  return row && (await withWaiting(db, [row]))[0];
}

/** What findRental will read. */
export function rentalAhead(userId: UserId, id: RentalId, onlyOf: ApiKeyId | undefined): ReadAhead {
  return new ReadAhead(rentalOfUser, [id, userId, onlyOf ?? null]);
}

/** Begins a read of rentals with what is shown of them. */
export function withHealth(db: Database | Transaction) {
  return db({ r: 'rentals_now' })
    .leftJoin({ p: 'pods' }, (join) =>
      join.on('p.provider_code', 'r.provider_code').andOn('p.pod_id', 'r.pod_id'),
    )
    .select<ReadRental[]>(
      'r.*',
      'p.silent_probes',
      'p.host_key_changed',
      { pod_host: 'p.host', pod_ports: 'p.ports' },
      db.raw(
        '(select json_object_agg(key, value order by place) from rental_labels where rental_no = r.no) as labels',
      ),
      db.raw(guardOfRental),
    );
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
 * @param onlyOf as of `findRental`
 */
export async function findMeterReading(
  db: Database,
  userId: UserId,
  id: RentalId,
  shards: number,
  onlyOf?: ApiKeyId,
): Promise<MeterReading | undefined> {
  const { rows } = await db.raw<{ rows: (RentalRow & { elapsed_ms: number; last_tick_at: Date | null })[] }>(
    `select r.*, m.last_tick_at,
            case when r.running_at is null then 0 else greatest(0, epoch_ms(
              least(clock_ms(), s.requested_at, r.auto_stop_at, r.spend_limit_at, r.ended_at)) - r.running_ms)
            end as elapsed_ms
     from rentals_now r
     left join stop_requests s on s.rental_no = r.no
     left join meter_shards m on m.shard = r.wallet_id % :shards
     where r.id = :id and r.user_id = :userId and (:onlyOf::text is null or r.api_key_id = :onlyOf)`,
    { id, userId, shards, onlyOf: onlyOf ?? null },
  );
  const row = rows[0];
  return row && { rental: row, elapsedMs: row.elapsed_ms, lastTickAt: row.last_tick_at };
}
