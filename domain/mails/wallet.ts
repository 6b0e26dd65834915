import type { RentalId } from '../ids.js';
import { formatUsd } from '../money.js';
import { answerToSupport, messageOf, type Message } from './message.js';
import { row } from './parts.js';

/** The wallet will soon be empty. @param burnCents the cost of all running machines in an hour, above 0 */
export function lowBalanceMail({
  totalCents,
  burnCents,
}: {
  totalCents: number;
  burnCents: number;
}): Message {
  const minutes = Math.floor((totalCents * 60) / burnCents);
  return messageOf('Your balance is running low', [
    `Your wallet holds ${formatUsd(totalCents)}, and your machines cost ${formatUsd(burnCents)} an hour:`,
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
