import {
  ProcessorError,
  type Card,
  type ChargeInput,
  type Payment,
} from '../../../adapters/processor/processor.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { missing } from './missing.js';
import { shown, type TruePayment } from './true-payment.js';

/** What banks do with so many of a thousand charges of saved cards. */
export interface BankFaults {
  readonly declines: number;
  /** They want their customer to be there, and the attempt is over. */
  readonly wantsCustomer: number;
  /** They ask their customer, who may approve as long as nobody cancels. */
  readonly asksCustomer: number;
  /** They take their time. */
  readonly ponders: number;
}

/** A charge of a saved card that reached the processor. */
export interface TrueCharge {
  readonly payment: TruePayment;
  readonly cardId: string;
}

/** What the banks need of the processor by which they are asked. */
interface Books {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly cards: ReadonlyMap<string, Card>;
  begin(of: ChargeInput, paidBy: Card): TruePayment;
  take(payment: TruePayment): void;
  once<T>(key: string, make: () => T): T;
  tell(kind: string, object: Record<string, unknown>): void;
}

export const willing: BankFaults = { declines: 0, wantsCustomer: 0, asksCustomer: 0, ponders: 0 };

/** How long customers and banks take at most, in milliseconds. */
const CUSTOMER_MAX_MS = 3 * 60_000;
const BANK_MAX_MS = 3_600_000;

const noFunds = { code: 'card_declined', declineCode: 'insufficient_funds' };
const expired = { code: 'expired_card', declineCode: 'expired_card' };
const unapproved = { code: 'authentication_required', declineCode: 'authentication_required' };

/** The banks of saved cards: what they say when a card is charged while its owner is away. */
export class Bank {
  faults = willing;
  readonly charges: TrueCharge[] = [];

  constructor(private readonly books: Books) {}

  /**
   * Charges a card. A repetition is answered as the first time, whatever has become of the payment since
   * (docs.stripe.com/api/idempotent_requests).
   */
  charge(input: ChargeInput): Payment {
    const answer = this.books.once(`charge:${input.topupId}`, () => {
      const card = this.books.cards.get(input.cardId);
      if (card?.customerId !== input.customerId) missing();
      const payment = this.books.begin(input, card);
      this.charges.push({ payment, cardId: card.cardId });
      this.#decide(payment, card);
      return shown(payment);
    });
    if (answer.status !== 'failed') return answer;
    throw new ProcessorError('declined', 'The bank declined the card.', {
      code: answer.failure?.code ?? '',
      declineCode: answer.failure?.declineCode ?? '',
      ...{ paymentId: answer.paymentId, status: 402 },
    });
  }

  #decide(payment: TruePayment, card: Card): void {
    const { chance, kernel } = this.books;
    const { declines, wantsCustomer, asksCustomer, ponders } = this.faults;
    if (monthEndMs(card) <= kernel.nowMs) this.#refuse(payment, expired);
    else if (chance.perMille(declines)) this.#refuse(payment, noFunds);
    else if (chance.perMille(wantsCustomer)) this.#refuse(payment, unapproved);
    else if (chance.perMille(asksCustomer)) this.#wait(payment, 'requires_action', CUSTOMER_MAX_MS);
    else if (chance.perMille(ponders)) this.#wait(payment, 'processing', BANK_MAX_MS);
    else this.#take(payment);
  }

  /** Leaves a payment open for a while; whoever cancels it before ends it. */
  #wait(payment: TruePayment, status: 'requires_action' | 'processing', maxMs: number): void {
    const { chance, kernel } = this.books;
    payment.status = status;
    const isPaid = chance.perMille(600);
    const decide = (): void => {
      if (payment.status !== status) return;
      if (isPaid) this.#take(payment);
      else this.#refuse(payment, status === 'processing' ? noFunds : unapproved);
    };
    kernel.after(chance.below(maxMs), `a bank decides on ${payment.paymentId}`, decide, { scope: {} });
  }

  #take(payment: TruePayment): void {
    this.books.take(payment);
    this.#tell('payment_intent.succeeded', payment);
  }

  #refuse(payment: TruePayment, failure: NonNullable<Payment['failure']>): void {
    Object.assign(payment, { status: 'failed', failure });
    this.#tell('payment_intent.payment_failed', payment);
  }

  #tell(kind: string, { paymentId, userId, topupId, source }: TruePayment): void {
    const metadata = { user_id: userId, topup_id: topupId, source };
    this.books.tell(kind, { id: paymentId, object: 'payment_intent', metadata });
  }
}

/** When a card's month is over, in milliseconds since 1970. */
export function monthEndMs({ expMonth, expYear }: Card): number {
  return Date.UTC(expYear, expMonth, 1);
}
