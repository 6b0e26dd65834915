import { readLatestEnd } from '../../adapters/postgres/machines/attempts.js';
import { elapsedMsAtCents } from '../../domain/metering/metering.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import { writeIdleGuard } from '../../adapters/postgres/rentals/idle-guards.js';
import type { IdleGuard } from '../../domain/rentals/idle-guard.js';
import type { RentalWords } from '../../domain/rentals/words.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import type { IntentRow, RentalRow, StopRequestRow } from '../../adapters/postgres/rows/tables.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { replaceLabels } from '../../adapters/postgres/rentals/words.js';
import { recordTopupIntent } from '../../adapters/postgres/payments/topup-level.js';

/** A rental as money sees it, with the request for its end. */
export type RentalWithStop = RentalRow & {
  stop: Pick<StopRequestRow, 'requested_at' | 'requested_by'> | null;
};

/** The values that a new rental starts with; the hold is the first hour (spec: POST /v1/rentals, step 4). */
export type NewRental = Pick<
  RentalRow,
  | 'id'
  | 'wallet_id'
  | 'user_id'
  | 'family'
  | 'model'
  | 'gpu_count'
  | 'region'
  | 'region_code'
  | 'interconnect'
  | 'template_id'
  | 'ssh_key_ids'
  | 'listing_id'
  | 'provider_code'
  | 'tag'
  | 'pod_id'
  | 'price_per_hour_cents'
  | 'max_spend_cents'
  | 'auto_stop_after_ms'
  | 'opened_seq'
> &
  Partial<
    Pick<RentalRow, 'api_key_id' | 'own_ssh_keys' | 'software' | 'telemetry'> &
      RentalWords & { idleGuard: IdleGuard | undefined }
  >;

/**
 * Writes the rental row in status provisioning with its labels, holding its first hour, and tells it. The hold was
 * moved out of available before, because auto-topup goes by what is left (decision 34, "Trigger of auto-topup").
 */
export async function insertRental(
  trx: Transaction,
  { labels, idleGuard, ...rental }: NewRental,
): Promise<void> {
  const [inserted] = await trx('rentals')
    .insert({
      ...rental,
      status: 'provisioning',
      hold_cents: rental.price_per_hour_cents,
      started_at: trx.raw('clock_ms()'),
    })
    .returning(['no', 'user_id']);
  if (!inserted) throw new Error('an insert of a rental answered no row');
  if (labels) await replaceLabels(trx, inserted, labels);
  if (idleGuard) await writeIdleGuard(trx, inserted.no, idleGuard);
  await recordTopupIntent(trx, rental.wallet_id);
  await recordEvent(trx, {
    type: 'rental.created',
    userId: rental.user_id,
    entityId: rental.id,
    data: {
      familyId: rental.family,
      gpuCount: rental.gpu_count,
      region: rental.region,
      pricePerHourCents: rental.price_per_hour_cents,
      holdCents: rental.price_per_hour_cents,
    },
  });
  if (rental.pod_id !== null) await tellMachineFound(trx, rental, rental.provider_code);
}

/** Tells that a rental has a machine, in the transaction that gives it to the rental. */
export async function tellMachineFound(
  trx: Transaction,
  { id, user_id: userId }: Pick<RentalRow, 'id' | 'user_id'>,
  providerCode: string,
): Promise<void> {
  await recordEvent(trx, { type: 'rental.machine_found', userId, entityId: id, data: { providerCode } });
}

export async function findRental(db: Database | Transaction, id: RentalId): Promise<RentalRow | undefined> {
  return db('rentals_now').where({ id }).first();
}

/**
 * Returns the user of a rental.
 * @throws when there is none
 */
export async function getUserOfRental(db: Database, id: RentalId): Promise<UserId> {
  const row = await db('rentals').where({ id }).first('user_id');
  if (!row) throw new Error(`no rental ${id}`);
  return row.user_id;
}

/**
 * Reads a rental under its row lock, with its stop request. The wallet must be locked before (design: rule 5).
 * @throws when there is none
 */
export async function lockRental(trx: Transaction, id: RentalId): Promise<RentalWithStop> {
  await trx('rentals').where({ id }).forNoKeyUpdate().first('no');
  const row = await findRental(trx, id);
  if (!row) throw new Error(`no rental ${id}`);
  const stop = await trx('stop_requests').where({ rental_no: row.no }).first('requested_at', 'requested_by');
  return { ...row, stop: stop ?? null };
}

/** The address of a pod at which its SSH daemon was seen to answer. */
export interface PodAddress {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly hostKeyFingerprint: string | null;
}

/** What began the billing of a machine (decision 155, "Ready or not"): its daemon, a port, or time. */
export type ReadyBy = NonNullable<RentalRow['ready_by']>;

/** Of a machine whose daemon has not answered. */
export const noAddress = { host: null, port: null, username: null, hostKeyFingerprint: null } as const;

/** A machine that is ready. Only one whose daemon answered has an address. */
export interface ReadyMachine {
  readonly address: PodAddress | null;
  readonly readyBy: ReadyBy;
}

/**
 * Moves a rental from provisioning to running, and tells it. Billing starts now, by the database's clock (decision 18,
 * "Start of billing"), and the instants at which its limits are reached are fixed.
 */
export async function startRunning(
  trx: Transaction,
  rental: RentalRow,
  { address, readyBy }: ReadyMachine,
): Promise<void> {
  const limitMs =
    rental.max_spend_cents === null
      ? null
      : elapsedMsAtCents(rental.price_per_hour_cents, rental.max_spend_cents);
  const { rows } = await trx.raw<{ rows: (RentalRow & { running_at: Date })[] }>(
    `update rentals set status = 'running', host = :host, port = :port, username = :username,
            host_key_fingerprint = :hostKeyFingerprint, ready_by = :readyBy, running_at = c.at,
            -- A change may have named the instant (decision 105); greatest() takes the other one for null.
            -- The end of the machine's contract bounds both; least() takes the other one for null.
            auto_stop_at = least(
              case when auto_stop_at is null then c.at + auto_stop_after_ms * interval '1 millisecond'
                   else greatest(auto_stop_at, c.at) end,
              case when :latestEnd::timestamptz is not null then greatest(:latestEnd::timestamptz, c.at) end),
            spend_limit_at = c.at + :limitMs::bigint * interval '1 millisecond'
       from (select clock_ms() as at) c
      where no = :no and status = 'provisioning'
     returning rentals.*`,
    {
      no: rental.no,
      readyBy,
      ...(address ?? noAddress),
      limitMs,
      latestEnd: await readLatestEnd(trx, rental.tag),
    },
  );
  const [running] = rows;
  if (!running) return;
  await recordEvent(trx, {
    type: 'rental.running',
    userId: running.user_id,
    entityId: running.id,
    data: {
      runningAt: running.running_at.toISOString(),
      autoStopAt: running.auto_stop_at?.toISOString() ?? null,
      spendLimitAt: running.spend_limit_at?.toISOString() ?? null,
    },
  });
}

/** Closes what is open about the end of a settled rental: the stop request and the intents. */
export async function acknowledgeEnd(trx: Transaction, rentalNo: number): Promise<void> {
  await trx('stop_requests').where({ rental_no: rentalNo, open: true }).update({ open: false });
  await acknowledge(trx, { rental_no: rentalNo });
}

/**
 * Closes what is told of a lost machine, which may have come back since. Call it before you look at the machine: a loss that
 * is told later is told anew, and at once.
 */
export async function acknowledgeLoss(trx: Transaction, rentalNo: number): Promise<void> {
  await acknowledge(trx, { rental_no: rentalNo, kind: 'pod_lost' });
}

async function acknowledge(
  trx: Transaction,
  intents: Pick<IntentRow, 'rental_no'> & Partial<Pick<IntentRow, 'kind'>>,
): Promise<void> {
  await trx('intents')
    .where(intents)
    .whereNull('acknowledged_at')
    .update({ acknowledged_at: trx.raw('clock_ms()') });
}

/**
 * Closes a settled rental whose pods are gone: nothing more is owed to it. A rental that is already closed stays as it
 * is.
 */
export async function closeRental(db: Database, id: RentalId): Promise<void> {
  await db('rentals')
    .where({ id })
    .whereNull('closed_at')
    .whereNotNull('settled_at')
    .update({
      status: db.raw(`case status when 'stopping' then 'stopped' else status end`),
      terminated_at: db.raw('coalesce(terminated_at, clock_ms())'),
      closed_at: db.raw('clock_ms()'),
    });
}

/**
 * Tells whether somebody asked for the rental's end. The API writes that without waiting for any lock (decision 15,
 * "Stopping a rental").
 */
export async function isStopRequested(db: Database, rentalNo: number): Promise<boolean> {
  return (await db('stop_requests').where({ rental_no: rentalNo }).first('rental_no')) !== undefined;
}
