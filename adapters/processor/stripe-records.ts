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
  /** Finds the payment of an object that may name its charge alone; null: there is none, so the charge is not ours. */
  async function paymentBehind(object: PaidByCharge): Promise<string | null> {
    const named = idOf(object.payment_intent);
    const chargeId = idOf(object.charge);
    if (named !== null || chargeId === null) return named;
    return idOf((await asked(() => stripe.charges.retrieve(chargeId))).payment_intent);
  }

  return {
    createRefund: createRefunds({ stripe, asked }),
    getRefund: async (refundId) => {
      const refund = await asked(() => stripe.refunds.retrieve(refundId));
      const paymentId = await paymentBehind(refund);
      return paymentId === null ? null : refundOf(refund, paymentId);
    },
    listRefundsOfCharge: async (chargeId) => {
      const { data } = await asked(() => stripe.refunds.list({ charge: chargeId, limit: pageSize }));
      // All are of one charge.
      const paymentId = data[0] === undefined ? null : await paymentBehind(data[0]);
      return paymentId === null ? [] : data.map((refund) => refundOf(refund, paymentId));
    },
    getDispute: async (disputeId) => {
      const dispute = await asked(() => stripe.disputes.retrieve(disputeId));
      const paymentId = await paymentBehind(dispute);
      return paymentId === null ? null : disputeOf(dispute, paymentId);
    },
    getFraudWarning: async (warningId) => {
      const warning = await asked(() => stripe.radar.earlyFraudWarnings.retrieve(warningId));
      return {
        warningId: requireText(warning.id, 'the warning’s id'),
        chargeId: requireText(idOf(warning.charge), 'the warning’s charge'),
        paymentId: await paymentBehind(warning),
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
