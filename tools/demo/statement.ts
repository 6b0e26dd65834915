import { firstBrokenLink } from '../../domain/ledger/ledger.js';
import { finalCents } from '../../domain/metering/metering.js';
import { formatUsd } from '../../domain/money.js';
import { readWholeLedger, type Entry } from './ledger.js';
import type { Rental } from './rental.js';
import { tell, type Stage } from './stage.js';
import { claim } from './story-error.js';
import { readBalance } from './top-up.js';

/** The result of the story. */
export interface Statement {
  readonly rental: Rental;
  /** The whole ledger, newest first. */
  readonly entries: readonly Entry[];
}

/** Shows the final statement and checks every cent of it against the rules. */
export async function checkStatement(stage: Stage, rental: Rental): Promise<Statement> {
  const { entries, balanceCents } = await readWholeLedger(stage);
  const net = new Map<string, number>();
  for (const { type, amountCents } of entries) net.set(type, (net.get(type) ?? 0) + amountCents);
  for (const [type, cents] of net) {
    const count = entries.filter((entry) => entry.type === type).length;
    tell(stage, `${type.padEnd(15)} ${String(count).padStart(4)} entries  ${formatUsd(cents).padStart(10)}`);
  }
  checkChain(stage, entries);
  checkPrice(stage, rental, entries);
  await checkBalance(stage, entries, balanceCents);
  return { rental, entries };
}

/** The reconciliation rule (spec.md, "Ledger entry") over the whole ledger, without a filter. */
function checkChain(stage: Stage, entries: readonly Entry[]): void {
  const broken = firstBrokenLink(entries, true);
  claim(
    broken === undefined,
    `the ledger's balances do not follow from its amounts at ${entries[broken ?? 0]?.id ?? 'no entry'}.`,
  );
  tell(stage, `ok  each of the ${entries.length} balances is the one before plus its amount, from $0.00 on`);
}

/**
 * The net charge is a function of the rate and of two instants, however many ticks there were (decision 25, "Usage as
 * running total").
 */
function checkPrice(stage: Stage, rental: Rental, entries: readonly Entry[]): void {
  const { runningAt, stoppedAt, pricePerHourCents, maxSpendCents } = rental;
  claim(runningAt !== null && stoppedAt !== null, 'the ended rental does not show when it ran.');
  const elapsedMs = Date.parse(stoppedAt) - Date.parse(runningAt);
  const due = finalCents(pricePerHourCents, elapsedMs, maxSpendCents);
  const charged = -entries
    .filter(({ rentalId }) => rentalId === rental.id)
    .reduce((sum, { amountCents }) => sum + amountCents, 0);
  claim(
    charged === due,
    `${elapsedMs} ms at ${pricePerHourCents} cents an hour cost ${due} cents, but ${charged} were charged.`,
  );
  claim(charged === rental.totalChargedCents, 'the rental and the ledger differ about what was charged.');
  tell(
    stage,
    `ok  ${elapsedMs} ms at ${formatUsd(pricePerHourCents)} an hour are ${formatUsd(due)}, to the cent what was charged`,
  );
}

async function checkBalance(stage: Stage, entries: readonly Entry[], balanceCents: number): Promise<void> {
  const { availableCents, reservedCents, totalCents } = await readBalance(stage);
  const sum = entries.reduce((cents, entry) => cents + entry.amountCents, 0);
  claim(reservedCents === 0, `${reservedCents} cents are still held, though nothing is rented.`);
  claim(
    totalCents === availableCents && totalCents === balanceCents && totalCents === sum,
    `the wallet shows ${totalCents} cents (${availableCents} available), the ledger ${balanceCents}, its entries sum to ${sum}.`,
  );
  tell(stage, `ok  nothing is held; ${formatUsd(totalCents)} in the wallet, as the ledger says`);
}
