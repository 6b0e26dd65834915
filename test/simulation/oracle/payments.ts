import type { TruePayment } from '../world/truth.js';
import { told, type Evidence } from './evidence.js';

/**
 * Decisions 32 and 35: each payment that succeeded is credited once, in full, to its payer; nothing else is credited.
 * Nobody pays twice for one top-up, whichever ways to pay it they were offered.
 */
export async function judgePayments({ ask, world }: Evidence): Promise<string[]> {
  const credits = await ask<Credit>(
    `select e.processor_charge_id as charge, e.amount_cents as cents, w.user_id, e.type::text as type
       from seen_entries e join wallets w on w.id = e.wallet_id
      where e.type in ('processor_topup', 'auto_topup')`,
  );
  const offers = await ask<{ payment_id: string; topup_id: string }>(
    `select payment_id, split_part(cause, ':', 2) as topup_id
       from invoices where reason = 'topup_failed' and payment_id is not null`,
  );
  const offered = new Map(offers.map(({ payment_id: paymentId, topup_id: topupId }) => [paymentId, topupId]));
  const taken = world.processor.truth.payments.filter(({ status }) => status === 'succeeded');
  const wished = taken.map(({ topupId, paymentId }) => topupId ?? offered.get(paymentId) ?? paymentId);
  const charges = new Set(taken.map(({ chargeId }) => chargeId));
  return [
    ...taken.flatMap((payment) => {
      const own = credits.filter(({ charge }) => charge === payment.chargeId);
      // The payment of a debt moves no balance.
      const isDebt = payment.source === 'invoice' && !offered.has(payment.paymentId);
      return judgePayment(payment, own, isDebt ? 0 : 1);
    }),
    ...[...new Set(wished.filter((wish, index) => wished.indexOf(wish) < index))].map(
      (wish) => `top-up ${wish} was paid twice`,
    ),
    ...credits
      .filter(({ charge }) => !charges.has(charge))
      .map(({ charge }) => `a credit names ${String(charge)}, which took nothing`),
  ];
}

interface Credit {
  readonly charge: string | null;
  readonly cents: string;
  readonly user_id: string;
  readonly type: string;
}

function judgePayment(payment: TruePayment, own: readonly Credit[], wanted: number): string[] {
  const { paymentId, amountReceivedCents, userId, source } = payment;
  const type = source === 'auto_topup' ? 'auto_topup' : 'processor_topup';
  return [
    ...told(own.length !== wanted, `payment ${paymentId} is credited ${own.length} times, and not ${wanted}`),
    ...own.flatMap((credit) => [
      ...told(
        Number(credit.cents) !== amountReceivedCents,
        `payment ${paymentId} of ${amountReceivedCents} is credited as ${credit.cents}`,
      ),
      ...told(![null, credit.user_id].includes(userId), `payment ${paymentId} is credited to somebody else`),
      ...told(credit.type !== type, `payment ${paymentId} is credited as ${credit.type}`),
    ]),
  ];
}
