import type {
  Dispute,
  FraudWarning,
  Processor,
  ProcessorLists,
  Refund,
} from '../../../adapters/processor/processor.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import type { TruePayment } from './true-payment.js';
import { missing } from './missing.js';

/** A refund as the processor truly has it. Cents; milliseconds since 1970. */
export interface TrueRefund {
  readonly id: string;
  readonly payment: TruePayment;
  readonly amountCents: number;
  readonly createdMs: number;
  status: Refund['status'];
}

/** A dispute as the processor truly has it. */
export interface TrueDispute {
  readonly id: string;
  readonly payment: TruePayment;
  readonly amountCents: number;
  readonly createdMs: number;
  status: 'warning_needs_response' | 'warning_closed' | 'needs_response' | 'under_review' | 'won' | 'lost';
  withdrawn: boolean;
  reinstated: boolean;
}

/** A bank's early warning of fraud, as the processor truly has it. */
export interface TrueWarning {
  readonly id: string;
  readonly payment: TruePayment;
  readonly createdMs: number;
}

/** How many payments of a thousand meet which fate, and the mean pause between two of its steps in milliseconds. */
export interface Fates {
  refunds: number;
  disputes: number;
  warnings: number;
  pauseMs: number;
}

/** What the reversals need of the processor that they are a part of. */
interface Books {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly payments: readonly TruePayment[];
  ask<T>(name: string, effect: () => T): Promise<T>;
  id(prefix: string): string;
  tell(kind: string, object: Record<string, unknown>): void;
}

type ReversalPort = Pick<
  Processor,
  | 'createRefund'
  | 'getRefund'
  | 'listRefundsOfCharge'
  | 'getDispute'
  | 'getFraudWarning'
  | 'getCardFingerprint'
> &
  Pick<ProcessorLists, 'listRefunds' | 'listDisputes'>;

/**
 * Money that goes back at the processor: operators refund payments there, payers dispute them, and banks warn. The
 * states and their order are those of its documents (reference "payments", behaviours 9 and 10).
 */
export class Reversals {
  readonly refunds: TrueRefund[] = [];
  readonly disputes: TrueDispute[] = [];
  readonly warnings: TrueWarning[] = [];
  fates: Fates = { refunds: 0, disputes: 0, warnings: 0, pauseMs: 0 };

  constructor(private readonly books: Books) {}

  /** Draws what will become of a payment that was just made. */
  draw(payment: TruePayment): void {
    const { chance } = this.books;
    const { refunds, disputes, warnings, pauseMs } = this.fates;
    if (pauseMs === 0) return;
    if (chance.perMille(refunds)) this.#later('a refund', () => this.#refund(payment));
    if (chance.perMille(warnings)) this.#later('a warning', () => this.#warn(payment));
    if (chance.perMille(disputes)) this.#later('a dispute', () => this.#dispute(payment));
  }

  /** Ends it: what has not happened yet never does. */
  end(): void {
    this.fates = { refunds: 0, disputes: 0, warnings: 0, pauseMs: 0 };
  }

  /** What went back of a payment by refunds that did not fail, in cents. */
  refundedCents(payment: TruePayment): number {
    const own = this.refunds.filter((refund) => refund.payment === payment && isLive(refund));
    return own.reduce((sum, { amountCents }) => sum + amountCents, 0);
  }

  port(): ReversalPort {
    const { books } = this;
    const newestFirst = <T>(items: T[]) => ({ items: items.reverse(), unread: [], after: null });
    return {
      createRefund: () => Promise.reject(new Error('nobody closes an account here')),
      getRefund: (id) =>
        books.ask('getRefund', () => shownRefund(this.refunds.find((one) => one.id === id) ?? missing())),
      listRefundsOfCharge: (chargeId) =>
        books.ask('refunds', () =>
          this.refunds
            .filter(({ payment }) => payment.chargeId === chargeId)
            .map(shownRefund)
            .reverse()
            .slice(0, 100),
        ),
      getDispute: (id) =>
        books.ask('getDispute', () => shownDispute(this.disputes.find((one) => one.id === id) ?? missing())),
      getFraudWarning: (id) =>
        books.ask('getWarning', () => shownWarning(this.warnings.find((one) => one.id === id) ?? missing())),
      getCardFingerprint: (chargeId) =>
        books.ask('fingerprint', () => {
          const payment = books.payments.find((one) => one.chargeId === chargeId) ?? missing();
          return payment.fingerprint;
        }),
      listRefunds: ({ since }) =>
        books.ask('listRefunds', () =>
          newestFirst(this.refunds.filter((one) => one.createdMs >= since.getTime()).map(dated(shownRefund))),
        ),
      listDisputes: ({ since }) =>
        books.ask('listDisputes', () =>
          newestFirst(
            this.disputes.filter((one) => one.createdMs >= since.getTime()).map(dated(shownDispute)),
          ),
        ),
    };
  }

  #later(what: string, step: () => void): void {
    const { kernel, chance } = this.books;
    const run = (): void => {
      if (this.fates.pauseMs > 0) step();
    };
    kernel.after(chance.pauseMs(this.fates.pauseMs), what, run, { scope: {} });
  }

  #refund(payment: TruePayment): void {
    const { books } = this;
    const { chance } = books;
    const leftCents = payment.amountReceivedCents - this.refundedCents(payment);
    // The processor refuses refunds of a charge that is disputed.
    const isDisputed = this.disputes.some(
      (one) => one.payment === payment && one.withdrawn && !one.reinstated,
    );
    if (payment.status !== 'succeeded' || leftCents <= 0 || isDisputed) return;
    const refund: TrueRefund = {
      ...{ id: books.id('re'), payment, createdMs: books.kernel.nowMs },
      amountCents: chance.perMille(400) ? leftCents : chance.between(1, leftCents),
      status: chance.perMille(300) ? 'pending' : 'succeeded',
    };
    this.refunds.push(refund);
    this.#tellRefund('refund.created', refund);
    const { chargeId: id, paymentId } = payment;
    books.tell('charge.refunded', { ...{ id, object: 'charge', payment_intent: paymentId, metadata: {} } });
    if (chance.perMille(300)) this.#later('another refund', () => this.#refund(payment));
    if (refund.status === 'pending') this.#later('a refund is decided', () => this.#decide(refund));
    else if (chance.perMille(250)) this.#later('a refund fails', () => this.#end(refund, 'failed'));
  }

  #decide(refund: TrueRefund): void {
    this.#end(refund, this.books.chance.pick(['succeeded', 'failed', 'canceled'] as const));
  }

  #end(refund: TrueRefund, status: 'succeeded' | 'failed' | 'canceled'): void {
    refund.status = status;
    this.#tellRefund(status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
  }

  #tellRefund(kind: string, refund: TrueRefund): void {
    const { id, payment, amountCents: amount, status } = refund;
    this.books.tell(kind, {
      ...{ id, object: 'refund', charge: payment.chargeId, payment_intent: payment.paymentId },
      ...{ amount, currency: payment.currency, status, metadata: {} },
    });
  }

  #warn(payment: TruePayment): void {
    const { books } = this;
    if (payment.status !== 'succeeded') return;
    const warning: TrueWarning = { id: books.id('issfr'), payment, createdMs: books.kernel.nowMs };
    this.warnings.push(warning);
    books.tell('radar.early_fraud_warning.created', {
      ...{ id: warning.id, object: 'radar.early_fraud_warning', actionable: true },
      ...{ charge: payment.chargeId, payment_intent: payment.paymentId },
    });
  }

  #dispute(payment: TruePayment): void {
    const { books } = this;
    const { chance, kernel } = books;
    if (payment.status !== 'succeeded') return;
    const isInquiry = chance.perMille(200);
    const wholeCents = payment.amountReceivedCents;
    const dispute: TrueDispute = {
      ...{ id: books.id('du'), payment, createdMs: kernel.nowMs },
      // The amount that a payer denies may differ from the charge's, in either direction.
      amountCents: chance.pick([
        wholeCents,
        wholeCents,
        wholeCents,
        chance.between(1, wholeCents),
        wholeCents + 37,
      ]),
      status: isInquiry ? 'warning_needs_response' : 'needs_response',
      ...{ withdrawn: false, reinstated: false },
    };
    this.disputes.push(dispute);
    this.#tellDispute('created', dispute);
    if (isInquiry) this.#later('an inquiry ends', () => this.#endInquiry(dispute));
    else if (chance.perMille(700)) this.#withdraw(dispute);
    else this.#later('funds are withdrawn', () => this.#withdraw(dispute));
  }

  #endInquiry(dispute: TrueDispute): void {
    if (this.books.chance.perMille(500)) {
      dispute.status = 'needs_response';
      this.#withdraw(dispute);
      return;
    }
    dispute.status = 'warning_closed';
    this.#tellDispute('closed', dispute);
  }

  #withdraw(dispute: TrueDispute): void {
    const { chance } = this.books;
    dispute.withdrawn = true;
    this.#tellDispute('funds_withdrawn', dispute);
    if (chance.perMille(200)) return;
    this.#later('a dispute is reviewed', () => {
      dispute.status = 'under_review';
      this.#tellDispute('updated', dispute);
      this.#later('a dispute ends', () => this.#close(dispute));
    });
  }

  #close(dispute: TrueDispute): void {
    const { chance } = this.books;
    dispute.status = chance.pick(['won', 'lost'] as const);
    const reinstates = (): void => {
      dispute.reinstated = true;
      this.#tellDispute('funds_reinstated', dispute);
    };
    const isAtOnce = chance.perMille(600);
    if (dispute.status === 'won' && isAtOnce) reinstates();
    this.#tellDispute('closed', dispute);
    if (dispute.status === 'won' && !isAtOnce) this.#later('funds are reinstated', reinstates);
  }

  #tellDispute(what: string, dispute: TrueDispute): void {
    const { id, payment, amountCents: amount, status } = dispute;
    this.books.tell(`charge.dispute.${what}`, {
      ...{ id, object: 'dispute', charge: payment.chargeId, payment_intent: payment.paymentId },
      ...{ amount, currency: payment.currency, status, metadata: {} },
    });
  }
}

/** Tells whether a refund's money is with its payer, or on its way. */
export function isLive({ status }: TrueRefund): boolean {
  return status === 'pending' || status === 'succeeded';
}

function shownRefund({ id, payment, amountCents, status }: TrueRefund): Refund {
  const { paymentId, chargeId, currency } = payment;
  return { refundId: id, paymentId, chargeId, amountCents, currency, status, key: null };
}

function shownDispute({ id, payment, ...dispute }: TrueDispute): Dispute {
  const { amountCents, status, withdrawn, reinstated } = dispute;
  return {
    ...{ disputeId: id, paymentId: payment.paymentId, chargeId: payment.chargeId ?? '' },
    ...{ amountCents, currency: payment.currency, status, withdrawn, reinstated },
    closed: ['won', 'lost', 'warning_closed'].includes(status),
  };
}

function shownWarning({ id, payment }: TrueWarning): FraudWarning {
  return { warningId: id, chargeId: payment.chargeId ?? '', paymentId: payment.paymentId };
}

function dated<T extends { readonly createdMs: number }, U>(show: (one: T) => U) {
  return (one: T): U & { changedAt: Date } => ({ ...show(one), changedAt: new Date(one.createdMs) });
}
