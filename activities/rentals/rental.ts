import { takeAnswer } from '../../money/rentals/answered-machines.js';
import { isPulled } from '../../adapters/postgres/operators/brakes.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { endWhenLost } from '../../money/rentals/lost.js';
import { meterWallets } from '../../money/metering/meter.js';
import {
  findRental,
  getUserOfRental,
  lockRental,
  startRunning,
  type PodAddress,
  type RentalWithStop,
} from '../../money/rentals/rentals.js';
import { endUnstarted, settle } from '../../money/rentals/settle.js';
import { lockWalletOfRental, reread, type LockedWallet } from '../../money/ledger/wallets.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { moneyTransaction } from '../../money/ledger/transaction.js';
import { laterWhenBusy } from '../metering/busy-wallet.js';
import type { ActivityDeps } from '../deps.js';

/** What is to be done next for a rental, read from its row: the row is the state (design: Temporal 1). */
export type RentalPhase = 'missing' | 'find_pod' | 'await_pod' | 'running' | 'ended' | 'end_pod' | 'closed';

export interface RentalLook {
  readonly phase: RentalPhase;
  /** For operators, beside the workflow: what they filter by, and a sentence. */
  readonly facts: { status: string; userId: string; provider: string; pricePerHourCents: number } | null;
  readonly summary: string;
}

/** How long a rental whose metering is paused waits at least before it looks again, in milliseconds. */
const PAUSED_LOOK_MS = 10_000;

/** The activities that read and move a rental's row. Each may run twice: what is done already is left alone. */
export function createRentalActivities(deps: ActivityDeps) {
  return {
    /** Reads where a rental stands. */
    async lookAtRental(rentalId: RentalId): Promise<RentalLook> {
      const rental = await findRental(deps.db, rentalId);
      if (!rental) return { phase: 'missing', facts: null, summary: 'no such rental' };
      const facts = {
        status: rental.status,
        userId: rental.user_id,
        provider: rental.provider_code,
        pricePerHourCents: rental.price_per_hour_cents,
      };
      return { phase: phaseOf(rental), facts, summary: summaryOf(rental) };
    },

    /**
     * The SSH daemon answered: billing begins, unless a stop came first. Where it answered is the row's word.
     * @param from01 what a run that 0.1 began was told, for want of a row
     */
    async startMetering(rentalId: RentalId, from01?: PodAddress): Promise<void> {
      await locked(rentalId, async (trx, wallet, rental) => {
        if (rental.status !== 'provisioning') return;
        if (rental.stop) return endUnstarted(trx, wallet, rental, { kind: 'stopped' });
        const address = (await takeAnswer(trx, rental.no)) ?? from01;
        // Without one it is waited for again.
        if (address) await startRunning(trx, rental, address);
      });
    },

    /** Gives up on a rental that never ran: a stop frees its hold, a failure refunds it. */
    async giveUpProvisioning(rentalId: RentalId, error: string | null): Promise<void> {
      await locked(rentalId, async (trx, wallet, rental) => {
        const stopped = rental.stop !== null || error === null;
        await endUnstarted(trx, wallet, rental, stopped ? { kind: 'stopped' } : { kind: 'failed', error });
      });
    },

    /**
     * One round of the metering loop: settles what is due, and ends the rental when its time, its money or its
     * machine is over. It does by itself what the tick engine and the watcher do sooner (second belt).
     * @returns how long the next round may wait at most, in milliseconds
     */
    async meterRental(rentalId: RentalId, beltMs: number): Promise<{ nextLookMs: number }> {
      return locked(rentalId, async (trx, wallet, rental) => {
        if (rental.status !== 'running') return { nextLookMs: 0 };
        if (await isPulled(trx, 'metering')) return { nextLookMs: await pausedLookMs(trx) };
        if (!(await endWhenLost(trx, wallet, rental))) await meterWallets(trx, [wallet.id]);
        return { nextLookMs: await nextLookMs(trx, wallet, rental.no, beltMs) };
      });
    },

    /** Settles a rental whose billing has ended (decision 25), if its machine was not lost before that. */
    async settleRental(rentalId: RentalId): Promise<void> {
      await locked(rentalId, async (trx, wallet, rental) => {
        if (rental.status !== 'stopping') return;
        if (!(await endWhenLost(trx, wallet, rental))) await settle(trx, wallet, rental);
      });
    },

    /** The pod is gone: nothing more is owed to the rental. */
    async closeRental(rentalId: RentalId): Promise<void> {
      await deps
        .db('rentals')
        .where({ id: rentalId })
        .whereNull('closed_at')
        .whereNotNull('settled_at')
        .update({
          status: deps.db.raw(`case status when 'stopping' then 'stopped' else status end`),
          terminated_at: deps.db.raw('coalesce(terminated_at, clock_ms())'),
          closed_at: deps.db.raw('clock_ms()'),
        });
    },
  };

  /** Wallet first, then rental, everywhere (design: rule 5), and when it is the user's turn (decision 73). */
  async function locked<T>(
    rentalId: RentalId,
    work: (trx: Transaction, wallet: LockedWallet, rental: RentalWithStop) => Promise<T>,
  ): Promise<T> {
    const userId = await getUserOfRental(deps.db, rentalId);
    return laterWhenBusy(() =>
      moneyTransaction(deps.db, userId, async (trx) => {
        const wallet = await lockWalletOfRental(trx, rentalId);
        return work(trx, wallet, await lockRental(trx, rentalId));
      }),
    );
  }
}

function phaseOf(rental: RentalRow): RentalPhase {
  if (rental.closed_at !== null) return 'closed';
  if (rental.settled_at !== null) return 'end_pod';
  if (rental.status === 'provisioning') return rental.pod_id === null ? 'find_pod' : 'await_pod';
  return rental.status === 'running' ? 'running' : 'ended';
}

function summaryOf(rental: RentalRow): string {
  const machine = `${rental.gpu_count} x ${rental.model} at ${rental.provider_code}, ${rental.region}`;
  const money = `${rental.charged_cents - rental.refunded_cents} cents charged of ${rental.price_per_hour_cents} an hour`;
  return `${rental.status}: ${machine}; ${money}${rental.error === null ? '' : `; ${rental.error}`}`;
}

/** Until the rental's own limit or the end of the wallet's money, whichever is first, and no longer than the belt. */
async function nextLookMs(
  trx: Transaction,
  wallet: LockedWallet,
  rentalNo: number,
  beltMs: number,
): Promise<number> {
  const { availableCents, reservedCents } = await reread(trx, wallet);
  const { rows } = await trx.raw<{ rows: { burn: number; limit_ms: number | null; fleet: number }[] }>(
    `select coalesce(sum(price_per_hour_cents), 0) as burn,
            min(limit_ms) filter (where rental_no = :rentalNo) - epoch_ms(clock_ms()) as limit_ms,
            (select count(*) from meters) as fleet
       from meters where wallet_id = :walletId`,
    { rentalNo, walletId: wallet.id },
  );
  const burn = rows[0]?.burn ?? 0;
  const periodMs = pacedMs(rows[0]?.fleet ?? 0, beltMs);
  const runwayMs =
    burn === 0 ? periodMs : Math.ceil(((availableCents + reservedCents + 1) * 3_600_000) / burn);
  // A moment past the instant, so that the round finds it reached; and not in a tight loop when it is long past.
  return Math.max(250, Math.min(periodMs, runwayMs, rows[0]?.limit_ms ?? periodMs) + 50);
}

/**
 * With a large fleet the rounds come further apart, three a second in all; their jitter keeps them from firing together.
 * @param leastMs how long the rounds of one rental are apart at least
 */
function pacedMs(fleet: number, leastMs: number): number {
  return Math.max(leastMs, (fleet * 1_000) / meteringLimits.beltRoundsPerSecond) * (1 - Math.random() / 10);
}

/**
 * While metering is paused nothing is due, and a fleet that looked each ten seconds would be a herd. Each looks at its own
 * time as before, so that none of them comes at the instant at which the brake is released: the tick engine, which
 * looks each second, meters then.
 */
async function pausedLookMs(trx: Transaction): Promise<number> {
  const { rows } = await trx.raw<{ rows: { fleet: number }[] }>('select count(*) as fleet from meters');
  return Math.round(pacedMs(rows[0]?.fleet ?? 0, PAUSED_LOOK_MS));
}
