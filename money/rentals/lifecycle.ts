import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { isPulled } from '../../adapters/postgres/operators/brakes.js';
import { countMeters, readBurn } from '../../adapters/postgres/rentals/meter-reads.js';
import type { RentalId } from '../../domain/ids.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { runwayMsAtMost } from '../../domain/metering/runway.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { lockWalletOfRental, reread, type LockedWallet } from '../ledger/wallets.js';
import { meterWallets } from '../metering/meter.js';
import { claimAnswer } from './answered-machines.js';
import { endWhenCalledBad } from './bad-machines.js';
import { endWhenLost } from './lost.js';
import {
  acknowledgeLoss,
  getUserOfRental,
  lockRental,
  startRunning,
  type RentalWithStop,
} from './rentals.js';
import { endUnstarted, settle } from './settle.js';

/** The least time until the next look at a rental while metering is paused, in milliseconds. */
const PAUSED_LOOK_MS = 10_000;

/**
 * Begins the billing of a rental whose machine has answered, unless a stop came first. The row says where the machine
 * answered; without a row, the rental waits for its machine again. One whose bad machine was left meanwhile looks for
 * another.
 * @throws as `underLock`
 */
export async function beginBilling(db: Database, rentalId: RentalId): Promise<void> {
  await underLock(db, rentalId, async (trx, wallet, rental) => {
    if (rental.status !== 'provisioning') return;
    if (rental.stop) return endUnstarted(trx, wallet, rental, { kind: 'stopped' });
    if (rental.pod_id === null) return;
    const machine = await claimAnswer(trx, rental.no);
    if (machine) await startRunning(trx, rental, machine);
  });
}

/**
 * Gives up a rental that never ran: a stop frees its hold, a failure refunds it.
 * @param error the text that its user is told; null for a stop
 * @throws as `underLock`
 */
export async function giveUpRental(db: Database, rentalId: RentalId, error: string | null): Promise<void> {
  await underLock(db, rentalId, async (trx, wallet, rental) => {
    const stopped = rental.stop !== null || error === null;
    await endUnstarted(trx, wallet, rental, stopped ? { kind: 'stopped' } : { kind: 'failed', error });
  });
}

/**
 * Does one round of a running rental's own metering (second belt): settles what is due, and ends the rental when its
 * time, its money or its machine is over. The tick engine and the watcher do the same sooner.
 * @param beltMs how long the next round may wait at most, in milliseconds
 * @returns when the next round is due, in milliseconds from now; 0 when the rental runs no more
 * @throws as `underLock`
 */
export async function advanceMetering(db: Database, rentalId: RentalId, beltMs: number): Promise<number> {
  return underLock(db, rentalId, async (trx, wallet, rental) => {
    if (rental.status !== 'running') return 0;
    if (await isPulled(trx, 'metering')) return pausedLookMs(trx);
    await acknowledgeLoss(trx, rental.no);
    if (!(await endOfMachine(trx, wallet, rental))) await meterWallets(trx, [wallet.id]);
    return nextLookMs(trx, wallet, rental.no, beltMs);
  });
}

/**
 * Settles a rental whose billing has ended (decision 25, "Usage as running total"), if its machine was not lost before.
 * @throws as `underLock`
 */
export async function settleEnded(db: Database, rentalId: RentalId): Promise<void> {
  await underLock(db, rentalId, async (trx, wallet, rental) => {
    if (rental.status !== 'stopping') return;
    if (!(await endOfMachine(trx, wallet, rental))) await settle(trx, wallet, rental);
  });
}

/** Ends a rental whose machine is of no use any more: it said so, or its upstream did. @returns whether it did */
async function endOfMachine(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
): Promise<boolean> {
  return (await endWhenCalledBad(trx, wallet, rental)) || (await endWhenLost(trx, wallet, rental));
}

/**
 * Locks the wallet first, then the rental, as everywhere (design: rule 5), when it is the user's turn (decision 73,
 * "Turns at the wallet").
 * @throws UserBusy or `lock_timeout` when somebody else holds the wallet: nothing was done; see isWalletBusy
 */
async function underLock<T>(
  db: Database,
  rentalId: RentalId,
  work: (trx: Transaction, wallet: LockedWallet, rental: RentalWithStop) => Promise<T>,
): Promise<T> {
  const userId = await getUserOfRental(db, rentalId);
  return moneyTransaction(db, userId, async (trx) => {
    const wallet = await lockWalletOfRental(trx, rentalId);
    return work(trx, wallet, await lockRental(trx, rentalId));
  });
}

/**
 * Returns the time until the rental's own limit or the end of the wallet's money, whichever is first, and no longer
 * than the belt.
 */
async function nextLookMs(
  trx: Transaction,
  wallet: LockedWallet,
  rentalNo: number,
  beltMs: number,
): Promise<number> {
  const { availableCents, reservedCents } = await reread(trx, wallet);
  const { burnPerHourCents, untilLimitMs, fleet } = await readBurn(trx, wallet.id, rentalNo);
  const periodMs = pacedMs(fleet, beltMs);
  const runwayMs = runwayMsAtMost(availableCents + reservedCents + 1, burnPerHourCents);
  // A moment past the instant, so that the round finds it reached; and not in a tight loop when it is long past.
  return Math.max(250, Math.min(periodMs, runwayMs, untilLimitMs ?? periodMs) + 50);
}

/**
 * Spaces the rounds of a large fleet to three a second in all; their jitter keeps them from firing together.
 * @param leastMs the least time between two rounds of one rental
 */
function pacedMs(fleet: number, leastMs: number): number {
  return Math.max(leastMs, (fleet * 1_000) / meteringLimits.beltRoundsPerSecond) * (1 - Math.random() / 10);
}

/**
 * Returns the time until the next look while metering is paused. Nothing is due then, and a fleet that looked every ten
 * seconds would be a herd. Each rental keeps its own time, so that none of them comes at the instant at which the brake
 * is released: the tick engine, which looks each second, meters then.
 */
async function pausedLookMs(trx: Transaction): Promise<number> {
  return Math.round(pacedMs(await countMeters(trx), PAUSED_LOOK_MS));
}
