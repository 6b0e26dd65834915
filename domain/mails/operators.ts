import type { RentalId, UserId } from '../ids.js';
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
    `${id} is about the charge ${chargeId}, by the card ${fingerprint ?? 'of no known fingerprint'}.`,
    `These users are not charged while they are away any more: ${owners.length > 0 ? owners.join(', ') : 'nobody has saved it'}.`,
    '',
    'Look at them, refund what is unspent if it is fraud, and lift the mark when it is not:',
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
  return messageOf(`No automatic refund any more today: ${userId}`, [
    `${rentalId} of ${userId} was lost at ${provider} within a minute of its start.`,
    `It was charged for its time: the account had ${rentalLimits.fullRefundsPerDay} full refunds in 24 hours already.`,
    `Look at the others: npm run ops -- users show ${userId}`,
    `Give it back if it is due: npm run ops -- wallet adjust --user ${userId} --amount-cents …`,
  ]);
}

/** Our account at an upstream is empty. @param message the upstream's words */
export function noFundsMail({ provider, message }: { provider: string; message: string }): Message {
  return messageOf(`The account at the upstream ${provider} has no money left`, [
    `A machine was refused: ${message}`,
    'Nothing of it is for sale until it sells again; it is asked once in a few minutes. Top the account up there.',
    'How it does: npm run ops -- providers',
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
    'All of them with their evidence: npm run ops -- findings',
    'What each kind means and what to do: docs/operations/findings.md',
  ]);
}
