import { continueAsNew } from '@temporalio/workflow';
import { DAY, HOUR, MINUTE } from '../domain/durations.js';
import { paymentLimits } from '../domain/payments/limits.js';
import { autoCharging, closingSteps, invoicing, steps } from './activity-proxies.js';
import type { AutoTopupInput } from './contracts/auto-topup.js';
import type { ClosingInput } from './contracts/closing.js';
import type { EventInput, EventLook } from './contracts/events.js';
import type { InvoiceInput } from './contracts/invoice.js';
import { followEvents } from './follow-events.js';

/** One payment that names a user of ours and none of their top-ups; its id is the payment's. */
export const payment = follower(({ id }: EventInput) => steps.lookAtPayment(id), asking([HOUR]));

/**
 * One saved card; its id is the payment method's. The workflow saves the card when its setup succeeded, lets it replace
 * the one before, and detaches it at the processor once it is removed here.
 */
export const card = follower(({ id }: EventInput) => steps.lookAtCard(id), asking([HOUR]));

/**
 * One refund at the processor; its id is the refund's. The wallet follows it (decision 30, "Reversed payments"). A
 * refund may wait for its bank for days, and a bank may send it back after weeks, which comes as an event.
 */
export const refund = follower(({ id }: EventInput) => steps.lookAtRefund(id), asking([HOUR, 6 * HOUR, DAY]));

/**
 * One dispute, which takes banks months; its id is the dispute's. The wallet follows it (decision 30, "Reversed
 * payments").
 */
export const dispute = follower(({ id }: EventInput) => steps.lookAtDispute(id), asking([DAY]));

/**
 * One invoice, from its draft until it is paid, void or written off (spec: Invoice status; decision 35, "Invoices and
 * reminders"): mirrors it at the processor, waits for its events, reminds, and writes it off after a month. A late
 * payment of one that was written off starts the workflow again.
 */
export const invoice = follower(
  ({ invoiceId, dayMs = paymentLimits.dayMs }: InvoiceInput) => invoicing.lookAtInvoice(invoiceId, dayMs),
  ({ dayMs = paymentLimits.dayMs }) => [dayMs],
);

/**
 * The auto-topup of one user: `auto-topup:<user>`. The tick signals it when the balance falls below the threshold, the
 * API when the settings change. It charges the saved card, waits for the cooldown, looks again, and ends when there is
 * nothing to do.
 */
export const autoTopup = follower(
  ({ userId }: AutoTopupInput) => autoCharging.lookAtAutoTopup(userId),
  asking([10_000, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]),
);

/**
 * The closing of one account: `closing:<user>`. It waits for machines to end, for debts and disputes, and once the person
 * is gone, for what comes late (decision 182, "Closing an account").
 */
export const closing = follower(
  ({ userId }: ClosingInput) => closingSteps.lookAtClosing(userId),
  asking([2_000, 5_000, 15_000, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR]),
);

interface Asking {
  readonly askAfterMs?: readonly number[];
}

/**
 * Returns when to ask if no event came, in milliseconds: as the input says, else as given. The last wait repeats.
 */
function asking(waits: readonly number[]): (input: Asking) => readonly number[] {
  return ({ askAfterMs = waits }) => askAfterMs;
}

/** Makes a workflow that follows a row, which is its state, until nothing more is expected of it. */
function follower<Input>(
  look: (input: Input) => Promise<EventLook>,
  waits: (input: Input) => readonly number[],
) {
  return async (input: Input): Promise<{ outcome: string }> => {
    const seen = await followEvents(() => look(input), waits(input));
    return seen === undefined ? continueAsNew(input) : { outcome: seen.status };
  };
}
