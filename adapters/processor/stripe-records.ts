import type Stripe from 'stripe';
import type { Processor } from './processor.js';
import { disputeOf, idOf, refundOf, requireText } from './stripe-answers.js';
import type { StripeCalls } from './stripe-calls.js';
import { readEvent } from './webhook.js';

const pageSize = 100;

type PaidByCharge = Stripe.Refund | Stripe.Dispute | Stripe.Radar.EarlyFraudWarning;

/** The calls for later news: refunds, disputes, and the events themselves. */
export function createStripeRecords({
  stripe,
  asked,
}: StripeCalls): Pick<
  Processor,
  | 'createRefund'
  | 'getRefund'
  | 'listRefundsOfCharge'
  | 'getDispute'
  | 'getFraudWarning'
  | 'getCardFingerprint'
  | 'listEvents'
> {
  /** Finds the payment behind a charge, for objects that name only the charge. */
  async function paymentBehind(object: PaidByCharge): Promise<string | null> {
    const chargeId = idOf(object.charge);
    if (idOf(object.payment_intent ?? null) !== null || chargeId === null) return null;
    return idOf((await asked(() => stripe.charges.retrieve(chargeId))).payment_intent);
  }

  return {
    createRefund: createRefunds({ stripe, asked }),
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
    getFraudWarning: async (warningId) => {
      const warning = await asked(() => stripe.radar.earlyFraudWarnings.retrieve(warningId));
      return {
        warningId: requireText(warning.id, 'the warning’s id'),
        chargeId: requireText(idOf(warning.charge), 'the warning’s charge'),
        paymentId: idOf(warning.payment_intent ?? null) ?? (await paymentBehind(warning)),
      };
    },
    getCardFingerprint: async (chargeId) => {
      const charge = await asked(() => stripe.charges.retrieve(chargeId));
      return charge.payment_method_details?.card?.fingerprint ?? null;
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

/** The call that gives money back. */
function createRefunds({ stripe, asked }: Pick<StripeCalls, 'stripe' | 'asked'>): Processor['createRefund'] {
  return async ({ paymentId, amountCents, key }) => {
    const refund = await asked(() =>
      stripe.refunds.create(
        {
          payment_intent: paymentId,
          amount: amountCents,
          reason: 'requested_by_customer',
          metadata: { refund_key: key },
        },
        { idempotencyKey: key },
      ),
    );
    return refundOf(refund, paymentId);
  };
}
