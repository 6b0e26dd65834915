import type { RentalId, UserId } from '../ids.js';
import { formatUsd } from '../money.js';
import { rentalLimits } from '../rentals/limits.js';
import { messageOf, type Message } from './message.js';
import { command, row } from './parts.js';

/**
 * Users and a card are marked because a payment was denied (decision 79, "Charge marks").
 * @param owners the users who are not charged now
 */
export function chargeMarkMail(
  mark: {
    readonly id: string;
    readonly kind: 'dispute' | 'early_fraud_warning';
    readonly chargeId: string;
    readonly fingerprint: string | null;
  },
  owners: readonly UserId[],
): Message {
  const { id, kind, chargeId, fingerprint } = mark;
  return messageOf(`${kind === 'dispute' ? 'A payment is disputed' : 'A bank warns of fraud'}: ${id}`, [
    `${id} is about charge ${chargeId}, made with the card ${fingerprint ?? '(fingerprint unknown)'}.`,
    `We no longer charge these users automatically: ${owners.length > 0 ? owners.join(', ') : 'none, because nobody has saved this card'}.`,
    '',
    'Check them. If it is fraud, refund what is unspent. If it is not, lift the mark:',
    command(`npm run ops -- marks lift ${id} --by … --reason …`),
  ]);
}

/** An account has used up the day's automatic refunds (decision 27, "Refund of failed machines"). */
export function refundLimitMail(rental: {
  readonly rentalId: RentalId;
  readonly userId: UserId;
  readonly provider: string;
}): Message {
  const { rentalId, userId, provider } = rental;
  return messageOf(`Daily limit of automatic refunds reached: ${userId}`, [
    `${rentalId} of ${userId} was lost at ${provider} within a minute of starting.`,
    `We charged it for its time, because the account already had ${rentalLimits.fullRefundsPerDay} full refunds in 24 hours.`,
    `Check the others: npm run ops -- users find ${userId}`,
    refundLine(rental),
  ]);
}

/** It names the rental, so that an order for all that an incident affected does not give the same again. */
function refundLine({ rentalId, userId }: { rentalId: RentalId; userId: UserId }): string {
  return `If a refund is due: npm run ops -- wallet refund --user ${userId} --rental ${rentalId} --amount-cents … --reason …`;
}

/** A running machine called itself bad, and its bill stands (decision 175, "Claims of machines"). */
export function badMachineMail(rental: {
  readonly rentalId: RentalId;
  readonly userId: UserId;
  readonly provider: string;
  readonly faults: readonly string[];
  /** Whether its upstream's list, or another user, says so too. */
  readonly isConfirmed: boolean;
}): Message {
  const { rentalId, userId, provider, faults, isConfirmed } = rental;
  return messageOf(`A machine at ${provider} says it is bad: ${rentalId}`, [
    `${rentalId} of ${userId} was ended, because its machine reported: ${faults.join(' ')}`,
    isConfirmed
      ? 'Something besides its renter says so too. But we only refund automatically within a minute of the start, for accounts that have paid, and a few times a day.'
      : 'Only the machine says so, and its renter can make it say anything. So the bill stands.',
    `Look at it: npm run ops -- rentals show ${rentalId}`,
    refundLine(rental),
  ]);
}

/** Our account at an upstream is empty. @param message the upstream's words */
export function noFundsMail({ provider, message }: { provider: string; message: string }): Message {
  return messageOf(`Our account at ${provider} is out of money`, [
    `It refused a machine: ${message}`,
    'Top up the account there. We offer none of its machines until it sells to us again, and try every few minutes.',
    'To see its state: npm run ops -- providers',
  ]);
}

/** Running machines of an upstream cost us more than was agreed as they were rented. @param mail.dearest some of them */
export function dearerMachinesMail(mail: {
  readonly provider: string;
  readonly machines: number;
  /** For all of them an hour. */
  readonly lossCents: number;
  readonly dearest: readonly {
    readonly rentalId: RentalId;
    readonly costCents: number;
    readonly agreedCents: number;
  }[];
}): Message {
  const { provider, machines, lossCents, dearest } = mail;
  const more = machines - dearest.length;
  return messageOf(`Machines at ${provider} cost more than their renters pay`, [
    `We lose ${formatUsd(lossCents)} an hour: these were rented for less than they cost now, and each rental keeps its price. If the provider has raised its prices, ask it why.`,
    '',
    ...dearest.map(({ rentalId, costCents, agreedCents }) =>
      row(rentalId, `costs ${formatUsd(costCents)} an hour`, `rented for ${formatUsd(agreedCents)}`),
    ),
    ...(more > 0 ? [`… and ${more} more.`] : []),
    '',
    'To end one: npm run ops -- rentals stop rent_… --by … --reason …',
    `To rent nothing there meanwhile: npm run ops -- providers pause ${provider} --by … --reason …`,
  ]);
}

/** Our account at an upstream is set up so that nothing may be rented with it. @param message what is wrong with it */
export function unfitAccountMail({ provider, message }: { provider: string; message: string }): Message {
  return messageOf(`Our account at ${provider} can’t be used`, [
    `We offer none of its machines: ${message}`,
    'Fix it in the provider’s console. We check every few minutes, and offer its machines again once it works.',
    'To see its state: npm run ops -- providers',
  ]);
}

/** This many findings are spelled out; the rest is counted. */
const SPELLED_OUT = 20;

/** The findings of a reconcile, and what it could not compare. */
export function findingsMail(
  findings: readonly { readonly id: number; readonly kind: string; readonly subject: string }[],
  gaps: readonly { readonly source: string; readonly since: Date; readonly why: string }[],
): Message {
  const more = findings.length - SPELLED_OUT;
  return messageOf(`Reconcile: ${findings.length} new ${findings.length === 1 ? 'finding' : 'findings'}`, [
    'Our books, the payment processor and the upstreams do not agree:',
    '',
    ...findings.slice(0, SPELLED_OUT).map(({ id, kind, subject }) => row(String(id), kind, subject)),
    ...(more > 0 ? [`… and ${more} more.`] : []),
    '',
    ...gaps.map((gap) => `Not compared: ${gap.source} since ${gap.since.toISOString()} (${gap.why})`),
    'All findings with their evidence: npm run ops -- findings',
    'What each kind means and what to do: docs/operations/findings.md',
  ]);
}

/** The closing of an account needs a person. */
export function closingWaitsMail({ userId, why }: { userId: string; why: string }): Message {
  return messageOf(`Closing ${userId} needs you`, [
    why,
    '',
    `See how far it has come: npm run ops -- users closing ${userId}`,
    'What to do: docs/operations/closing-accounts.md',
  ]);
}
