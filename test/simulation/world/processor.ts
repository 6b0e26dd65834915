import {
  ProcessorError,
  type Card,
  type CheckoutSession,
  type ListedCharge,
  type Payment,
  type Processor,
  type ProcessorEvent,
} from '../../../adapters/processor/processor.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Chance } from '../kernel/chance.js';
import { invoicesOf, type MirrorInvoice } from './processor-invoices.js';
import { Reversals } from './processor-reversals.js';
import { missing } from './missing.js';
import { Bank } from './bank.js';
import { shown, type TruePayment } from './true-payment.js';
import { NoAnswer, type Outside } from './outside.js';

interface Session {
  readonly id: string;
  readonly topupId: string;
  readonly userId: string;
  readonly customerId: string;
  readonly amountCents: number;
  readonly expiresMs: number;
  payment: TruePayment | null;
}

/** What is to be paid, in cents, and by whom. */
interface PaymentInput {
  readonly topupId: string | null;
  readonly userId: string | null;
  readonly customerId: string;
  readonly amountCents: number;
  readonly source: string | null;
}

const DAY_MS = 24 * 3_600_000;
/** So many cards of a thousand expire at the end of the month. */
const SOON_OVER = 250;

/** The payment processor: what it truly took, and the events that it tells. */
export class ProcessorModel {
  readonly payments: TruePayment[] = [];
  readonly cards = new Map<string, Card>();
  readonly invoices: MirrorInvoice[] = [];
  readonly reversals: Reversals = new Reversals(this);
  readonly events: ProcessorEvent[] = [];
  readonly bank: Bank = new Bank(this);
  /** Sends an event to the service. */
  onEvent: (event: ProcessorEvent) => void = () => undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #byKey = new Map<string, { readonly madeMs: number; readonly made: unknown }>();
  #no = 0;

  constructor(
    readonly kernel: Kernel,
    readonly chance: Chance,
    private readonly outside: Outside,
  ) {}

  /** The port by which the service sees it. */
  port(): Processor {
    return {
      enabled: true,
      createCustomer: ({ userId }) => this.ask('customer', () => ({ customerId: `cus_${userId}` })),
      deleteCustomer: () => Promise.reject(new Error('nobody closes an account here')),
      createCheckoutSession: (input) =>
        this.ask('session', () =>
          this.once(`checkout:${input.topupId}`, () => {
            const session: Session = {
              ...{
                id: this.id('cs'),
                topupId: input.topupId,
                userId: input.userId,
                customerId: input.customerId,
              },
              ...{ amountCents: input.amountCents, expiresMs: this.kernel.nowMs + DAY_MS, payment: null },
            };
            this.#sessions.set(session.id, session);
            return this.#shownSession(session);
          }),
        ),
      getCheckoutSession: (id) => this.ask('getSession', () => this.#shownSession(this.#session(id))),
      // Nobody here tries one card after the other.
      expireCheckoutSession: (id) => this.ask('getSession', () => this.#shownSession(this.#session(id))),
      cancelCardSetup: () => this.ask('setup', () => undefined),
      chargeSavedCard: (input) => this.ask('charge', () => this.bank.charge(input)),
      getPayment: (id) => this.ask('getPayment', () => shown(this.#payment(id))),
      findPaymentOfTopup: ({ topupId }) =>
        this.ask('findPayment', () => {
          const found = this.payments.findLast((payment) => payment.topupId === topupId);
          return found === undefined ? null : shown(found);
        }),
      cancelPayment: (id) => this.ask('cancel', () => this.#cancel(id)),
      createCardSetup: ({ userId, customerId }) =>
        this.ask('setup', () => {
          const id = this.id('seti');
          return { setupId: id, clientSecret: `${id}_secret_${userId}|${customerId}` };
        }),
      getCard: (id) => this.ask('getCard', () => this.#card(id)),
      detachCard: (id) =>
        this.ask('detach', () => {
          const card = this.cards.get(id);
          if (card !== undefined) this.cards.set(id, { ...card, customerId: null });
        }),
      listEvents: ({ since }) =>
        this.ask('events', () => ({
          events: this.events.filter(({ createdAt }) => createdAt >= since).reverse(),
          after: null,
        })),
      listCharges: ({ since }) =>
        this.ask('charges', () => ({
          items: this.payments
            .filter(({ status, createdMs }) => status === 'succeeded' && createdMs >= since.getTime())
            .map((payment) => this.#listed(payment))
            .reverse(),
          unread: [],
          after: null,
        })),
      findCharge: (id) =>
        this.ask('findCharge', () => {
          const found = this.payments.find(
            ({ paymentId, chargeId, status }) =>
              status === 'succeeded' && (paymentId === id || chargeId === id),
          );
          return found === undefined ? null : this.#listed(found);
        }),
      ...this.reversals.port(),
      ...invoicesOf(this),
    };
  }

  /** A payer pays a hosted page. @returns whether it was still open */
  payPage(url: string, keepsCard: boolean): boolean {
    const session = this.#sessions.get(url.slice(url.lastIndexOf('/') + 1));
    if (session?.payment !== null || session.expiresMs <= this.kernel.nowMs) return false;
    const card = keepsCard ? this.newCard(session.customerId, true) : null;
    session.payment = this.pay({ ...session, source: null }, card);
    const metadata = { user_id: session.userId, topup_id: session.topupId };
    this.tell('checkout.session.completed', {
      ...{ id: session.id, object: 'checkout.session', payment_intent: session.payment.paymentId, metadata },
    });
    return true;
  }

  /** A user's browser confirms the setup of a card. */
  confirmSetup(clientSecret: string): void {
    const [setupId = '', about = ''] = clientSecret.split('_secret_');
    const [userId = '', customerId = ''] = about.split('|');
    const card = this.newCard(customerId, false);
    this.tell('setup_intent.succeeded', {
      ...{ id: setupId, object: 'setup_intent', payment_method: card.cardId, metadata: { user_id: userId } },
    });
  }

  newCard(customerId: string, keptByConsent: boolean): Card {
    const cardId = this.id('pm');
    const now = new Date(this.kernel.nowMs);
    const expires = this.chance.perMille(SOON_OVER)
      ? { expMonth: now.getUTCMonth() + 1, expYear: now.getUTCFullYear() }
      : { expMonth: 12, expYear: 2040 };
    const card: Card = {
      ...{ cardId, customerId, brand: 'visa', last4: '4242', ...expires },
      ...{ fingerprint: `print-${cardId}`, keptByConsent },
    };
    this.cards.set(cardId, card);
    return card;
  }

  /**
   * Takes money.
   * @param card the card that the payment shows: that of a page whose payer keeps it
   */
  pay(of: PaymentInput, card: Card | null): TruePayment {
    const payment = this.begin(of, card, card);
    this.take(payment);
    return payment;
  }

  /** Books a payment of which nothing is decided yet. */
  begin(of: PaymentInput, paidBy: Card | null, card: Card | null = null): TruePayment {
    const payment: TruePayment = {
      ...{ paymentId: this.id('pi'), chargeId: null, status: 'processing', currency: 'usd' },
      ...{ amountReceivedCents: 0, askedCents: of.amountCents, customerId: of.customerId },
      ...{ topupId: of.topupId, userId: of.userId, source: of.source },
      ...{ receiptUrl: 'https://pay.example/receipt', chargedAt: null, failure: null, card },
      createdMs: this.kernel.nowMs,
      fingerprint: paidBy?.fingerprint ?? `print-page-${of.customerId}`,
    };
    this.payments.push(payment);
    return payment;
  }

  /** Takes the money of a payment. */
  take(payment: TruePayment): void {
    Object.assign(payment, {
      ...{ status: 'succeeded', amountReceivedCents: payment.askedCents, failure: null },
      ...{ chargeId: this.id('ch'), chargedAt: new Date(this.kernel.nowMs), createdMs: this.kernel.nowMs },
    });
    this.reversals.draw(payment);
  }

  /** Tells the service of something, by a webhook that chance may lose, double or delay. */
  tell(kind: string, object: Record<string, unknown>): void {
    const event: ProcessorEvent = {
      ...{ id: this.id('evt'), kind, createdAt: new Date(Math.floor(this.kernel.nowMs / 1_000) * 1_000) },
      ...{ livemode: false, apiVersion: null, object },
    };
    this.events.push(event);
    this.onEvent(event);
  }

  id(prefix: string): string {
    this.#no += 1;
    return `${prefix}_${String(this.#no).padStart(6, '0')}`;
  }

  async ask<T>(name: string, effect: () => T): Promise<T> {
    try {
      return await this.outside.call('processor', name, effect);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new ProcessorError('unknown', error.message, {}, { cause: error });
    }
  }

  #cancel(id: string): Payment {
    const payment = this.#payment(id);
    // What a bank is deciding on, or has paid, can't be cancelled (docs.stripe.com/api/payment_intents/cancel).
    if (payment.status === 'requires_action' || payment.status === 'failed') payment.status = 'canceled';
    return shown(payment);
  }

  #listed(payment: TruePayment): ListedCharge {
    return {
      ...{ chargeId: payment.chargeId ?? '', paymentId: payment.paymentId },
      ...{
        amountCents: payment.amountReceivedCents,
        refundedCents: this.reversals.refundedCents(payment),
      },
      ...{ currency: 'usd', customerId: payment.customerId, topupId: payment.topupId },
      changedAt: new Date(payment.createdMs),
    };
  }

  /** Does something once under a key, which is kept for a day. */
  once<T>(key: string, make: () => T): T {
    const known = this.#byKey.get(key);
    if (known !== undefined && known.madeMs + DAY_MS > this.kernel.nowMs) return known.made as T;
    const made = make();
    this.#byKey.set(key, { madeMs: this.kernel.nowMs, made });
    return made;
  }

  #session(id: string): Session {
    return this.#sessions.get(id) ?? missing();
  }

  #payment(id: string): TruePayment {
    return this.payments.find(({ paymentId }) => paymentId === id) ?? missing();
  }

  #card(id: string): Card {
    return this.cards.get(id) ?? missing();
  }

  #shownSession(session: Session): CheckoutSession {
    const { payment, expiresMs } = session;
    const isOver = payment === null && expiresMs <= this.kernel.nowMs;
    return {
      sessionId: session.id,
      url: payment !== null || isOver ? null : `https://pay.example/${session.id}`,
      status: payment !== null ? 'complete' : isOver ? 'expired' : 'open',
      paymentStatus: payment === null ? 'unpaid' : 'paid',
      expiresAt: new Date(expiresMs),
      payment: payment === null ? null : shown(payment),
    };
  }
}
