import { endOfLost, type EndOfLost, type LostRental } from '../../domain/rentals/settlement.js';
import { elapsedMsAtCents } from '../../domain/metering/metering.js';
import { refundLimitMail } from '../../domain/mails/operators.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { recordNotice } from '../../adapters/postgres/operators/operator-notices.js';
import { findPodOfRental } from '../../adapters/postgres/machines/pods.js';
import { billedOf } from '../../adapters/postgres/rentals/facts.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { tellStopping } from './rental-events.js';
import type { RentalWithStop } from './rentals.js';
import { failWithFullRefund, settle } from './settle.js';
import type { LockedWallet } from '../ledger/wallets.js';

/**
 * Ends and settles a rental whose machine the upstream has lost, when nothing else ended it before (decision 77, "Bill
 * of lost machines"). Each settling calls this first. So it makes no difference if the tick engine notices a stop or a
 * limit sooner than the watcher notices the loss. The wallet and the rental must be locked by this transaction.
 * @returns false when it is not lost, or something else ended it first: then the caller meters or settles as usual
 */
export async function endWhenLost(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
): Promise<boolean> {
  const pod = await findPodOfRental(trx, rental);
  return pod?.lost === true && endLost(trx, wallet, rental, pod.lastAliveAt ?? rental.started_at);
}

/**
 * Ends a rental whose machine was lost, running or not settled yet. Within the refund window it gives everything back
 * (decision 27, "Refund of failed machines"). Later it gives back the charge for the time after the machine was last
 * seen alive.
 * @param lastAliveAt the last moment at which the upstream showed it alive
 * @returns false when something else ended it first, or it is settled: nothing is changed
 */
export async function endLost(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
  lastAliveAt: Date,
): Promise<boolean> {
  const facts = await lostFacts(trx, wallet, rental, lastAliveAt);
  const end = endOfLost({ ...facts, neverAnswered: rental.ready_by === 'grace' });
  if (!end) return false;
  await writeLoss(trx, wallet, rental, end, lastAliveAt);
  if (end.kind === 'billed' && end.isRefused) await recordRefusedRefund(trx, rental);
  return true;
}

/** What decides how a lost machine ends its rental, but for whether it ever answered. */
export async function lostFacts(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
  lastAliveAt: Date,
): Promise<Omit<LostRental, 'neverAnswered'>> {
  return {
    ...billedOf(rental),
    lastAliveAt,
    stopAskedAt: rental.stop?.requested_at ?? null,
    moneyEndedAt: await moneyEndedAt(trx, wallet, rental),
    fullRefundsToday: await fullRefundsToday(trx, wallet),
  };
}

/** Writes how the loss of its machine ends a rental, and settles it. */
export async function writeLoss(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
  end: EndOfLost,
  lastAliveAt: Date,
): Promise<void> {
  const { endedAt: ended_at } = end;
  if (end.kind === 'unpaid') {
    return endAt(trx, wallet, { ...rental, stop_reason: 'balance_exhausted', ended_at });
  }
  await trx('lost_machines').insert({ rental_no: rental.no, last_alive_at: lastAliveAt });
  const { error } = end;
  if (end.kind === 'refunded') {
    return failWithFullRefund(trx, wallet, { ...rental, stop_reason: null, ended_at }, error);
  }
  await endAt(trx, wallet, { ...rental, stop_reason: 'pod_lost', ended_at, error });
}

/**
 * Writes the end, with the meter's reading, and settles.
 * @param ended the rental with its new end, and the status that it had until now
 */
async function endAt(trx: Transaction, wallet: LockedWallet, ended: Ended): Promise<void> {
  const { stop_reason, ended_at, error, charged_cents, hold_cents } = ended;
  await trx('rentals').where({ no: ended.no }).update({
    status: 'stopping',
    stop_reason,
    ended_at,
    error,
    charged_cents,
    hold_cents,
  });
  if (ended.status === 'running') await tellStopping(trx, ended, { reason: stop_reason, at: ended_at });
  await settle(trx, wallet, ended);
}

type Ended = RentalRow & {
  readonly stop_reason: NonNullable<RentalRow['stop_reason']>;
  readonly ended_at: Date;
};

/**
 * Returns the instant at which the money ended of a rental that waits for an auto-topup (decision 26, "End of the
 * money"); null when it does not wait. Money that came in meanwhile counts: it pays for the time that the machine went
 * on.
 */
async function moneyEndedAt(trx: Transaction, wallet: LockedWallet, rental: RentalRow): Promise<Date | null> {
  const meter = await trx('meters').where({ rental_no: rental.no }).first('starved_ms', 'running_ms');
  if (meter === undefined || meter.starved_ms === null) return null;
  const funds = rental.charged_cents + rental.hold_cents + wallet.availableCents;
  return new Date(meter.running_ms + elapsedMsAtCents(rental.price_per_hour_cents, funds));
}

/**
 * Notes a refund that was refused. Beyond the day's automatic refunds a person decides (decision 27, "Refund of failed
 * machines"): it may be abuse, or an upstream that fails many.
 */
async function recordRefusedRefund(trx: Transaction, rental: RentalRow): Promise<void> {
  await recordNotice(trx, {
    cause: { kind: 'refund_limit', rentalId: rental.id },
    message: refundLimitMail({
      rentalId: rental.id,
      userId: rental.user_id,
      provider: rental.provider_code,
    }),
  });
}

async function fullRefundsToday(trx: Transaction, wallet: LockedWallet): Promise<number> {
  const row = await trx('rentals')
    .where({ wallet_id: wallet.id, status: 'failed' })
    .whereNotNull('running_at')
    .whereRaw(`settled_at > (select clock_ms()) - interval '1 day'`)
    .count<{ count: number }[]>('* as count')
    .first();
  return row?.count ?? 0;
}
