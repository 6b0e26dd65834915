import type { RentalId } from '../ids.js';
import { formatUsd } from '../money.js';
import { answerToSupport, messageOf, type Message } from './message.js';

/** The wallet will soon be empty. @param burnCents what all running machines cost in an hour, above 0 */
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
    `that lasts for about ${minutes} minutes. When it is used up, your machines are stopped.`,
    '',
    'Top up the wallet to keep them running.',
  ]);
}

/** An operator gave or took money. @param amountCents signed: below 0 it was taken */
export function walletChangedMail({ amountCents, reason }: { amountCents: number; reason: string }): Message {
  const verb = amountCents > 0 ? 'added to' : 'taken from';
  return messageOf(`${formatUsd(Math.abs(amountCents))} was ${verb} your wallet`, [
    reason,
    '',
    answerToSupport,
  ]);
}

/** So many rentals are named in a mail. */
const MAILED_RENTALS = 50;

/** What an order of many gave one user for each of their rentals. */
export function rentalsRefundedMail(
  reason: string,
  rentals: readonly { readonly rentalId: RentalId; readonly cents: number }[],
): Message {
  const total = rentals.reduce((sum, { cents }) => sum + cents, 0);
  const more = rentals.length - MAILED_RENTALS;
  return messageOf(`${formatUsd(total)} was added to your wallet`, [
    reason,
    '',
    ...rentals.slice(0, MAILED_RENTALS).map(({ rentalId, cents }) => `${rentalId}  ${formatUsd(cents)}`),
    ...(more > 0 ? [`and ${more} more: see your ledger`] : []),
    '',
    answerToSupport,
  ]);
}
