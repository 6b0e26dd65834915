import type Stripe from 'stripe';
import { idOf } from '../../../lab/processor/ids.js';
import type { Store } from '../../../lab/processor/store.js';

/** The kinds of events that docs/operations/stripe.md has sent. */
export const sentKinds =
  /^(checkout\.session\.|payment_intent\.(succeeded|payment_failed|canceled)$|setup_intent\.(succeeded|setup_failed)$|payment_method\.(detached|automatically_updated)$|refund\.|charge\.(refunded$|dispute\.)|radar\.|invoice\.(paid|payment_succeeded|payment_failed|voided|marked_uncollectible)$)/;

/** A payment as the processor truly has it. Cents; milliseconds since 1970, to the second. */
export interface TruePayment {
  readonly paymentId: string;
  readonly status: Stripe.PaymentIntent.Status;
  readonly amountReceivedCents: number;
  /** null while nothing was taken. */
  readonly chargeId: string | null;
  /** When the money was taken; until then, when it was asked for. */
  readonly createdMs: number;
  /** The user as whose customer it was paid. */
  readonly payerId: string | null;
  /** What its metadata names. */
  readonly topupId: string | null;
  readonly userId: string | null;
  /** `invoice` for that of an invoice. */
  readonly source: string | null;
  /** The card by which it was last tried, and its fingerprint. */
  readonly cardId: string | null;
  readonly fingerprint: string | null;
}

/** A saved card, or one that was. */
export interface TrueCard {
  /** The user whose it is; null: nobody's any more. */
  readonly ownerId: string | null;
  /** When its month is over, in milliseconds since 1970. */
  readonly monthEndMs: number;
}

export interface TrueRefund {
  readonly id: string;
  readonly payment: TruePayment;
  readonly amountCents: number;
  /** Its money is with its payer, or on its way. */
  readonly isLive: boolean;
  readonly isPending: boolean;
  /** The key by which the service asked for it; null: others made it. */
  readonly key: string | null;
}

export interface TrueDispute {
  readonly id: string;
  readonly payment: TruePayment;
  readonly amountCents: number;
  readonly withdrawn: boolean;
  readonly reinstated: boolean;
  /** It is not decided, or its money is still to come back. */
  readonly isOpen: boolean;
}

/** The mirror of one of our invoices. */
export interface TrueInvoice {
  readonly id: string;
  readonly ourId: string;
  readonly status: Stripe.Invoice['status'];
  readonly totalCents: number;
}

/** Reads from the processor's own tables what it truly took and gave back, for the oracle: it shares no code with the adapter. */
export class Truth {
  constructor(private readonly store: Store) {}

  get payments(): TruePayment[] {
    const { store } = this;
    const ofInvoices = new Set(
      store.list('invoice_payments').map(({ payment }) => idOf(payment.payment_intent)),
    );
    return store
      .list('payment_intents')
      .map((intent) => this.#payment(intent, ofInvoices.has(intent.id) ? 'invoice' : null));
  }

  #payment(intent: Stripe.PaymentIntent, otherSource: string | null): TruePayment {
    const { store } = this;
    const charge = this.#paidCharge(intent);
    const cardId = idOf(intent.payment_method) ?? idOf(intent.last_payment_error?.payment_method);
    return {
      ...{ paymentId: intent.id, status: intent.status, chargeId: idOf(charge), cardId },
      amountReceivedCents: intent.amount_received,
      createdMs: (charge ?? intent).created * 1_000,
      ...{ payerId: this.#userOf(intent.customer), ...namedBy(intent.metadata, otherSource) },
      fingerprint: store.find('payment_methods', cardId ?? '')?.card?.fingerprint ?? null,
    };
  }

  #paidCharge({ latest_charge: latest }: Stripe.PaymentIntent): Stripe.Charge | null {
    const charge = this.store.find('charges', idOf(latest) ?? '');
    return charge?.paid === true ? charge : null;
  }

  /** The payments of saved cards while their owners were away. */
  get charges(): TruePayment[] {
    return this.payments.filter(({ source }) => source === 'saved_card' || source === 'auto_topup');
  }

  card(id: string): TrueCard | undefined {
    const method = this.store.find('payment_methods', id);
    if (method?.card === undefined) return undefined;
    const { exp_month: month, exp_year: year } = method.card;
    return { ownerId: this.#userOf(method.customer), monthEndMs: Date.UTC(year, month, 1) };
  }

  get refunds(): TrueRefund[] {
    const payments = this.#byId();
    return this.store.list('refunds').map((refund) => ({
      ...{ id: refund.id, payment: paidBy(payments, refund), amountCents: refund.amount },
      isLive: refund.status === 'pending' || refund.status === 'succeeded',
      ...{ isPending: refund.status === 'pending', key: refund.metadata?.['refund_key'] ?? null },
    }));
  }

  get disputes(): TrueDispute[] {
    const payments = this.#byId();
    return this.store.list('disputes').map((dispute) => {
      const moves = dispute.balance_transactions.map(({ amount }) => amount);
      const withdrawn = moves.some((cents) => cents < 0);
      const reinstated = moves.some((cents) => cents > 0);
      const isFinal = ['won', 'lost', 'warning_closed', 'prevented'].includes(dispute.status);
      return {
        ...{ id: dispute.id, payment: paidBy(payments, dispute), amountCents: dispute.amount },
        ...{
          withdrawn,
          reinstated,
          isOpen: !isFinal || (withdrawn && !reinstated && dispute.status !== 'lost'),
        },
      };
    });
  }

  /** The warnings of banks. */
  get warnings(): { readonly id: string; readonly payment: TruePayment }[] {
    const payments = this.#byId();
    return this.store
      .list('fraud_warnings')
      .map((warning) => ({ id: warning.id, payment: paidBy(payments, warning) }));
  }

  get invoices(): TrueInvoice[] {
    return this.store.list('invoices').map(({ id, metadata, status, total }) => {
      return { id, ourId: metadata?.['invoice_id'] ?? '', status, totalCents: total };
    });
  }

  /** What happened, of the kinds that the processor sends. Milliseconds since 1970, to the second. */
  get events(): { readonly id: string; readonly kind: string; readonly createdMs: number }[] {
    return this.store
      .list('events')
      .filter(({ type }) => sentKinds.test(type))
      .map(({ id, type, created }) => ({ id, kind: type, createdMs: created * 1_000 }));
  }

  /** The users who are customers there now. */
  get payers(): string[] {
    return this.store.list('customers').map(({ metadata }) => metadata['user_id'] ?? '');
  }

  #byId(): ReadonlyMap<string, TruePayment> {
    return new Map(this.payments.map((payment) => [payment.paymentId, payment]));
  }

  #userOf(customer: Stripe.PaymentIntent['customer']): string | null {
    const id = idOf(customer) ?? '';
    const { metadata } = this.store.find('customers', id) ?? this.#deleted(id) ?? {};
    return metadata?.['user_id'] ?? null;
  }

  /** A customer who was deleted, as the event of it tells. */
  #deleted(id: string): Stripe.Customer | undefined {
    return this.store
      .list('events')
      .filter(({ type }) => type === 'customer.deleted')
      .map(({ data }) => data.object as Stripe.Customer)
      .find((customer) => customer.id === id);
  }
}

function namedBy(
  { topup_id: topupId, user_id: userId, source }: Readonly<Record<string, string | undefined>>,
  otherSource: string | null,
): Pick<TruePayment, 'topupId' | 'userId' | 'source'> {
  return { topupId: topupId ?? null, userId: userId ?? null, source: source ?? otherSource };
}

function paidBy(
  payments: ReadonlyMap<string, TruePayment>,
  {
    id,
    payment_intent: intent,
  }: { readonly id: string; readonly payment_intent?: string | { readonly id: string } | null },
): TruePayment {
  const payment = payments.get(idOf(intent) ?? '');
  if (payment === undefined) throw new Error(`${id} goes back on no payment`);
  return payment;
}
