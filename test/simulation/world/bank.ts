import type Stripe from 'stripe';
import { answerBank } from '../../../lab/processor/cards/authentication-page.js';
import type { Bank as Word, World as Lab } from '../../../lab/processor/http/endpoint.js';
import { finishPayment } from '../../../lab/processor/lab-actions.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';

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

export const willing: BankFaults = { declines: 0, wantsCustomer: 0, asksCustomer: 0, ponders: 0 };

/** How long customers and banks take at most, in milliseconds. */
const CUSTOMER_MAX_MS = 3 * 60_000;
const BANK_MAX_MS = 3_600_000;

/** The banks of saved cards: what they say when a card is charged while its owner is away. */
export class Bank {
  faults = willing;

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      /** The lab's processor, which asks them. */
      readonly lab: () => Lab;
    },
  ) {}

  readonly word: Word = ({ intent, offSession }) => {
    const { chance } = this.parts;
    const { declines, wantsCustomer, asksCustomer, ponders } = this.faults;
    if (!offSession) return null;
    if (chance.perMille(declines)) return { declines: 'insufficient_funds' };
    if (chance.perMille(wantsCustomer)) return { declines: 'authentication_required' };
    if (chance.perMille(asksCustomer)) {
      this.#later(intent, 'requires_action', CUSTOMER_MAX_MS, answerBank);
      return 'asks';
    }
    if (!chance.perMille(ponders)) return null;
    this.#later(intent, 'processing', BANK_MAX_MS, finishPayment);
    return 'ponders';
  };

  /** Decides on a payment after a while; whoever cancels it before ends it. */
  #later(
    { id }: Stripe.PaymentIntent,
    status: Stripe.PaymentIntent.Status,
    maxMs: number,
    decide: (lab: Lab, id: string, isPaid: boolean) => unknown,
  ): void {
    const { kernel, chance, lab } = this.parts;
    const isPaid = chance.perMille(600);
    const run = (): void => {
      if (lab().store.find('payment_intents', id)?.status !== status) return;
      lab().transact(null, () => decide(lab(), id, isPaid));
    };
    kernel.after(chance.below(maxMs), `a bank decides on ${id}`, run, { scope: {} });
  }
}
