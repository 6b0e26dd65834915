import type { RentalId } from '../ids.js';
import { runwaySeconds } from '../metering/runway.js';
import { formatUsd } from '../money.js';
import { answerToSupport, messageOf, type Message } from './message.js';
import { row } from './parts.js';

/**
 * The wallet will soon be empty.
 * @param low what is left for the running machines, and what all of them cost in an hour, above 0
 */
export function lowBalanceMail(low: { readonly fundsCents: number; readonly burnCents: number }): Message {
  const { fundsCents, burnCents } = low;
  const minutes = Math.floor(runwaySeconds(fundsCents, burnCents) / 60);
  return messageOf('Your balance is running low', [
    `You have ${formatUsd(fundsCents)} left for your running machines. They cost ${formatUsd(burnCents)} an hour:`,
    `enough for about ${minutes} minutes. When your balance runs out, we stop your machines.`,
    '',
    'Top up your wallet to keep them running.',
  ]);
}

/** An operator gave or took money. @param amountCents signed: below 0 it was taken */
export function walletChangedMail({ amountCents, reason }: { amountCents: number; reason: string }): Message {
  const amount = formatUsd(Math.abs(amountCents));
  return messageOf(
    amountCents > 0 ? `We added ${amount} to your wallet` : `We took ${amount} from your wallet`,
    [reason, '', answerToSupport],
  );
}

/** A mail names this many rentals at most. */
const MAILED_RENTALS = 50;

/** An order of many refunded a user's rentals; the mail says how much each got. */
export function rentalsRefundedMail(
  reason: string,
  rentals: readonly { readonly rentalId: RentalId; readonly cents: number }[],
): Message {
  const total = rentals.reduce((sum, { cents }) => sum + cents, 0);
  const more = rentals.length - MAILED_RENTALS;
  return messageOf(`We added ${formatUsd(total)} to your wallet`, [
    reason,
    '',
    ...rentals.slice(0, MAILED_RENTALS).map(({ rentalId, cents }) => row(rentalId, formatUsd(cents))),
    ...(more > 0 ? [`and ${more} more: see your ledger`] : []),
    '',
    answerToSupport,
  ]);
}
