import { readLatestEnd } from '../../adapters/postgres/machines/attempts.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { refuseWhenLate } from '../../adapters/postgres/rentals/open-guards.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { isPulled } from '../../adapters/postgres/operators/brakes.js';
import { applyWords, findChange, refusalOfChange } from '../../adapters/postgres/rentals/changes.js';
import { endingOf, limitsOf } from '../../adapters/postgres/rentals/facts.js';
import { earlierOf } from '../../adapters/postgres/requests/opening-requests.js';
import type { RentalChangeRow } from '../../adapters/postgres/rows/tables.js';
import type { ChangeId, RentalId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { limitsAfter, refusalOfEnding, type RentalLimits } from '../../domain/rentals/changes.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { lockWalletOfRental, type LockedWallet } from '../ledger/wallets.js';
import { meterWallets } from '../metering/meter.js';
import { reserveChange } from '../spending/reserve.js';
import { endWhenLost } from './lost.js';
import { lockRental, type RentalWithStop } from './rentals.js';

/** A change that a rental's workflow was told of. What it asks for is its row (`rental_changes`). */
export interface ToldChange {
  readonly rentalId: RentalId;
  readonly changeId: ChangeId;
  /** ISO instant by the database's clock: nothing is changed after it (decision 4, "Promise of a 503"). */
  readonly answerBefore: string;
}

/**
 * Sets a rental's limits, with the words where the change asks for some (decision 105, "Changed rentals"). It
 * meters first, so what counts for the time that has passed are the limits that were in force. Answers again what it
 * answered before.
 * @returns the refusal, which changed nothing but what was metered; undefined when it is done
 * @throws Refusal temporarily_unavailable while metering is paused, or after its time: nothing was done
 * @throws UserBusy or `lock_timeout` when somebody else holds the wallet: nothing was done; see isWalletBusy
 */
export async function changeRental(db: Database, told: ToldChange): Promise<Refusal | undefined> {
  const change = await findChange(db, told.changeId);
  if (change?.rental_id !== told.rentalId) {
    throw new Refusal(
      'temporarily_unavailable',
      'We have no record of this change, so nothing happened. Try again.',
    );
  }
  return moneyTransaction(db, change.user_id, async (trx) => {
    const wallet = await lockWalletOfRental(trx, told.rentalId);
    // An earlier try may have committed, and its answer was lost.
    const answered = (await findChange(trx, told.changeId)) ?? change;
    if (answered.answered_at !== null) return refusalOfChange(answered);
    await refuseWhenLate(trx, earlierOf(change.answer_before, told.answerBefore));
    await refuseWhenNotMetered(trx, wallet);
    const refusal = await changeUnderLock(trx, wallet, change);
    if (refusal) await answer(trx, change, { refused: refusal });
    return refusal;
  });
}

async function changeUnderLock(
  trx: Transaction,
  wallet: LockedWallet,
  change: RentalChangeRow & { readonly rental_id: RentalId },
): Promise<Refusal | undefined> {
  const before = await lockRental(trx, change.rental_id);
  if (!(await endWhenLost(trx, wallet, before))) await meterWallets(trx, [wallet.id]);

  const rental = await lockRental(trx, change.rental_id);
  const now = await readClock(trx);
  const refusal = refusalOfEnding(endingOf(rental), rental.stop !== null, now);
  if (refusal) return refusal;
  const latestEnd = await readLatestEnd(trx, rental.tag);
  const limits = limitsAfter({ ...factsOf(rental), latestEnd }, change.asked, now);
  const isTimeAlone = change.asked.maxSpendCents === undefined;
  const beyond = await reserveChange(trx, rental, { before: limitsOf(rental), after: limits, isTimeAlone });
  if (beyond) return beyond;
  await writeLimits(trx, rental, limits);
  await answer(trx, change, { from: limitsOf(rental), to: limits, at: now });
  await applyWords(
    trx,
    { id: change.id, rental, asked: change.asked, apiKeyId: change.api_key_id ?? undefined },
    { before: limitsOf(rental), after: limits },
  );
  // A limit that is reached by now ends it in this transaction, and not at the next tick.
  if (isReached(limits, now)) await meterWallets(trx, [wallet.id]);
  return undefined;
}

/** Writes the limits; while it runs, a trigger hands them to its meter. */
async function writeLimits(
  trx: Transaction,
  { no }: RentalWithStop,
  { maxSpendCents, spendLimitAt, autoStopAt, autoStopAfterMs }: RentalLimits,
): Promise<void> {
  await trx('rentals').where({ no }).update({
    max_spend_cents: maxSpendCents,
    spend_limit_at: spendLimitAt,
    auto_stop_at: autoStopAt,
    auto_stop_after_ms: autoStopAfterMs,
  });
}

type Answer =
  | { readonly refused: Refusal }
  | { readonly from: RentalLimits; readonly to: RentalLimits; readonly at: Date };

/** Keeps what came of a change: its answer for whoever asks again, and which limits were in force until when. */
async function answer(trx: Transaction, { id }: RentalChangeRow, given: Answer): Promise<void> {
  const columns =
    'refused' in given
      ? { refused: JSON.stringify(toldOf(given.refused)) as never }
      : {
          limits_at: given.at,
          was_max_spend_cents: given.from.maxSpendCents,
          was_auto_stop_at: given.from.autoStopAt,
          new_max_spend_cents: given.to.maxSpendCents,
          new_auto_stop_at: given.to.autoStopAt,
        };
  await trx('rental_changes')
    .where({ id })
    .update({ answered_at: trx.raw('clock_ms()'), ...columns });
}

function toldOf({ code, message, details }: Refusal) {
  return { code, message, ...(details !== undefined && { details }) };
}

/** What has passed can't be metered now, so nobody knows which limits were reached. */
async function refuseWhenNotMetered(trx: Transaction, wallet: LockedWallet): Promise<void> {
  const blocked = await trx('wallets').where({ id: wallet.id }).first('metering_blocked_at');
  const isPaused = await isPulled(trx, 'metering');
  if (!isPaused && blocked?.metering_blocked_at === null) return;
  const why = isPaused ? 'Our operators have paused metering' : 'We can’t meter your wallet just now';
  throw new Refusal(
    'temporarily_unavailable',
    `${why}, so you can’t change limits. Try again later, or stop the rental.`,
  );
}

function isReached({ autoStopAt, spendLimitAt }: RentalLimits, now: Date): boolean {
  return [autoStopAt, spendLimitAt].some((at) => at !== null && at <= now);
}

function factsOf(rental: RentalWithStop) {
  return {
    ...limitsOf(rental),
    pricePerHourCents: rental.price_per_hour_cents,
    runningAt: rental.running_at,
    chargedCents: rental.charged_cents,
  };
}
