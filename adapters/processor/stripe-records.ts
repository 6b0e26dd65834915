import type Stripe from 'stripe';
import type { Processor } from './processor.js';
import { disputeOf, idOf, refundOf } from './stripe-answers.js';
import type { StripeCalls } from './stripe-calls.js';
import { readEvent } from './webhook.js';

const pageSize = 100;

/** What the processor tells afterwards: refunds, disputes, and the events themselves. */
export function createStripeRecords({
  stripe,
  asked,
}: StripeCalls): Pick<Processor, 'getRefund' | 'listRefundsOfCharge' | 'getDispute' | 'listEvents'> {
  /** The payment behind a charge, for objects that name only the charge. */
  async function paymentBehind(object: Stripe.Refund | Stripe.Dispute): Promise<string | null> {
    const chargeId = idOf(object.charge);
    if (idOf(object.payment_intent) !== null || chargeId === null) return null;
    return idOf((await asked(() => stripe.charges.retrieve(chargeId))).payment_intent);
  }

  return {
    getRefund: async (refundId) => {
      const refund = await asked(() => stripe.refunds.retrieve(refundId));
      return refundOf(refund, await paymentBehind(refund));
    },
    listRefundsOfCharge: async (chargeId) => {
      const { data } = await asked(() => stripe.refunds.list({ charge: chargeId, limit: pageSize }));
      return Promise.all(data.map(async (refund) => refundOf(refund, await paymentBehind(refund))));
    },
    getDispute: async (disputeId) => {
      const dispute = await asked(() => stripe.disputes.retrieve(disputeId));
      return disputeOf(dispute, await paymentBehind(dispute));
    },
    listEvents: async ({ since, after }) => {
      const page = await asked(() =>
        stripe.events.list({
          created: { gte: Math.floor(since.getTime() / 1000) },
          limit: pageSize,
          ...(after === null ? {} : { starting_after: after }),
        }),
      );
      return {
        events: page.data.flatMap((event) => readEvent(event) ?? []),
        after: page.has_more ? (page.data.at(-1)?.id ?? null) : null,
      };
    },
  };
}
