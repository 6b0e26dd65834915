import type Stripe from 'stripe';
import {
  unlessMissing,
  type Dated,
  type ListedCharge,
  type Page,
  type ProcessorInvoice,
  type ProcessorLists,
} from './processor.js';
import { disputeOf, idOf, refundOf, requireInteger, requireText } from './stripe-answers.js';
import type { StripeCalls } from './stripe-calls.js';
import { invoiceOf } from './stripe-invoices.js';

const pageSize = 100;

/** The calls that list what is in the account, page by page. */
export function createStripeLists({ stripe, asked }: StripeCalls): ProcessorLists {
  return {
    listCharges: async (input) =>
      pageOf(await asked(() => stripe.charges.list(pageParams(input))), (charge) =>
        tookMoney(charge) ? [chargeOf(charge)] : [],
      ),
    findCharge: (id) =>
      unlessMissing(async () => {
        const charges = id.startsWith('ch_')
          ? [await asked(() => stripe.charges.retrieve(id))]
          : (await asked(() => stripe.charges.list({ payment_intent: id, limit: pageSize }))).data;
        const charge = charges.find(tookMoney);
        return charge === undefined ? null : chargeOf(charge);
      }),
    listRefunds: async (input) =>
      pageOf(await asked(() => stripe.refunds.list(pageParams(input))), (refund) => {
        const paymentId = idOf(refund.payment_intent);
        // A refund without a payment belongs to a charge that we never made: that charge is reported by itself.
        return paymentId === null
          ? []
          : [{ ...refundOf(refund, paymentId), changedAt: instantOf(refund.created) }];
      }),
    listDisputes: async (input) =>
      pageOf(await asked(() => stripe.disputes.list(pageParams(input))), (dispute) => {
        const paymentId = idOf(dispute.payment_intent);
        return paymentId === null
          ? []
          : [{ ...disputeOf(dispute, paymentId), changedAt: lastMoveOf(dispute) }];
      }),
    listInvoices: async (input) => {
      const which =
        'open' in input
          ? { status: 'open' as const, limit: pageSize, ...from(input.after) }
          : pageParams(input);
      // At most four levels can be expanded: the payment comes as its id, which suffices.
      return pageOf(
        await asked(() => stripe.invoices.list({ ...which, expand: ['data.payments'] })),
        (invoice) => [datedInvoiceOf(invoice)],
      );
    },
  };
}

function pageParams({ since, after }: { since: Date; after: string | null }) {
  return { created: { gte: Math.floor(since.getTime() / 1000) }, limit: pageSize, ...from(after) };
}

function from(after: string | null): { starting_after?: string } {
  return after === null ? {} : { starting_after: after };
}

function pageOf<Item extends { id: string }, T>(
  page: Stripe.ApiList<Item>,
  read: (item: Item) => T[],
): Page<T> {
  const items: T[] = [];
  const unread: { id: string; error: unknown }[] = [];
  for (const item of page.data) {
    try {
      items.push(...read(item));
    } catch (error) {
      unread.push({ id: item.id, error });
    }
  }
  return { items, unread, after: page.has_more ? (page.data.at(-1)?.id ?? null) : null };
}

function tookMoney(charge: Stripe.Charge): boolean {
  return charge.status === 'succeeded' && charge.amount_captured > 0;
}

function chargeOf(charge: Stripe.Charge): ListedCharge {
  return {
    chargeId: requireText(charge.id, 'the charge’s id'),
    paymentId: idOf(charge.payment_intent),
    amountCents: requireInteger(charge.amount_captured, 'the charge’s amount'),
    refundedCents: requireInteger(charge.amount_refunded, 'what was refunded of the charge'),
    currency: requireText(charge.currency, 'the currency').toLowerCase(),
    customerId: idOf(charge.customer),
    topupId: charge.metadata['topup_id'] ?? null,
    changedAt: instantOf(charge.created),
  };
}

function lastMoveOf(dispute: Stripe.Dispute): Date {
  const moves = (dispute.balance_transactions as Stripe.BalanceTransaction[] | undefined) ?? [];
  return instantOf(Math.max(dispute.created, ...moves.map(({ created }) => created)));
}

function datedInvoiceOf(invoice: Stripe.Invoice): ProcessorInvoice & Dated {
  const {
    finalized_at: finalized,
    marked_uncollectible_at: given,
    paid_at: paid,
    voided_at: voided,
  } = invoice.status_transitions;
  const moves = [finalized, given, paid, voided].map((at) => at ?? 0);
  return { ...invoiceOf(invoice), changedAt: instantOf(Math.max(invoice.created, ...moves)) };
}

function instantOf(seconds: number): Date {
  return new Date(requireInteger(seconds, 'an instant') * 1000);
}
