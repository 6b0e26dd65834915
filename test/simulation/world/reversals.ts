import type Stripe from 'stripe';
import { ApiError } from '../../../lab/processor/http/errors.js';
import type { World as Lab } from '../../../lab/processor/http/endpoint.js';
import { getCharge } from '../../../lab/processor/payments/charges.js';
import {
  decideDispute,
  escalateDispute,
  getDispute,
  openDispute,
  reinstate,
  reviewDispute,
  withdraw,
} from '../../../lab/processor/payments/disputes.js';
import { warnOfFraud } from '../../../lab/processor/payments/fraud-warnings.js';
import {
  failRefund,
  finishRefund,
  getRefund,
  refundCharge,
} from '../../../lab/processor/payments/refunds.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';

/** How many payments of a thousand meet which fate, and the mean pause between two of its steps in milliseconds. */
export interface Fates {
  readonly refunds: number;
  readonly disputes: number;
  readonly warnings: number;
  readonly pauseMs: number;
}

const none: Fates = { refunds: 0, disputes: 0, warnings: 0, pauseMs: 0 };

/** By chance operators refund payments at the processor, payers dispute them, and banks warn. */
export class Reversals {
  fates = none;

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly lab: () => Lab;
      /** Whether a charge is one of another account: we hear no more of it. */
      readonly isUnknown: (charge: Stripe.Charge) => boolean;
    },
  ) {}

  /** Draws what will become of a charge that just took money. */
  draw(chargeId: string): void {
    const { chance } = this.parts;
    const { refunds, disputes, warnings, pauseMs } = this.fates;
    if (pauseMs === 0) return;
    const begin = (what: string, step: (lab: Lab) => void): void =>
      this.#later(what, (lab) => {
        if (!this.parts.isUnknown(getCharge(lab, chargeId))) step(lab);
      });
    if (chance.perMille(refunds)) begin('a refund', (lab) => this.#refund(lab, chargeId));
    if (chance.perMille(warnings))
      begin('a warning', (lab) => void warnOfFraud(lab, getCharge(lab, chargeId)));
    if (chance.perMille(disputes)) begin('a dispute', (lab) => this.#dispute(lab, chargeId));
  }

  /** Ends it: what has not happened yet never does. */
  end(): void {
    this.fates = none;
  }

  #later(what: string, step: (lab: Lab) => void): void {
    const { kernel, chance, lab } = this.parts;
    const run = (): void => {
      if (this.fates.pauseMs > 0) lab().transact(null, () => step(lab()));
    };
    kernel.after(chance.pauseMs(this.fates.pauseMs), what, run, { scope: {} });
  }

  #refund(lab: Lab, chargeId: string): void {
    const { chance } = this.parts;
    const charge = getCharge(lab, chargeId);
    const leftCents = charge.amount_captured - charge.amount_refunded;
    if (leftCents <= 0) return;
    const amount = chance.perMille(400) ? leftCents : chance.between(1, leftCents);
    const outcome = chance.perMille(300) ? 'pending' : 'succeeds';
    const refund = unlessRefused(() => refundCharge(lab, charge, { amount, outcome }));
    if (refund === undefined) return;
    const { id } = refund;
    if (chance.perMille(300)) this.#later('another refund', (later) => this.#refund(later, chargeId));
    if (outcome === 'pending') this.#later('a refund is decided', (later) => this.#decide(later, id));
    else if (chance.perMille(250))
      this.#later('a refund fails', (later) => void failRefund(later, getRefund(later, id)));
  }

  #decide(lab: Lab, refundId: string): void {
    const refund = getRefund(lab, refundId);
    const status = this.parts.chance.pick(['succeeded', 'failed', 'canceled'] as const);
    if (status === 'succeeded') finishRefund(lab, refund);
    else failRefund(lab, refund, status);
  }

  #dispute(lab: Lab, chargeId: string): void {
    const { chance } = this.parts;
    const charge = getCharge(lab, chargeId);
    const inquiry = chance.perMille(200);
    const { amount: whole } = charge;
    // The amount that a payer denies may differ from the charge's, in either direction.
    const amount = chance.pick([whole, whole, whole, chance.between(1, whole), whole + 37]);
    const withdrawsLater = !inquiry && !chance.perMille(700);
    const { id } = openDispute(lab, charge, { amount, inquiry, withdrawsLater });
    if (inquiry) this.#later('an inquiry ends', (later) => this.#endInquiry(later, id));
    else if (withdrawsLater)
      this.#later('funds are withdrawn', (later) => {
        withdraw(later, getDispute(later, id));
        this.#goOn(id);
      });
    else this.#goOn(id);
  }

  #endInquiry(lab: Lab, id: string): void {
    const dispute = getDispute(lab, id);
    if (!this.parts.chance.perMille(500)) {
      decideDispute(lab, dispute, false);
      return;
    }
    escalateDispute(lab, dispute);
    this.#goOn(id);
  }

  /** What comes after the withdrawal: some disputes stay open for ever. */
  #goOn(id: string): void {
    if (this.parts.chance.perMille(200)) return;
    this.#later('a dispute is reviewed', (lab) => {
      reviewDispute(lab, getDispute(lab, id));
      this.#later('a dispute ends', (later) => this.#close(later, getDispute(later, id)));
    });
  }

  #close(lab: Lab, dispute: Stripe.Dispute): void {
    const { chance } = this.parts;
    const isWon = chance.perMille(500);
    const reinstatesLater = isWon && !chance.perMille(600);
    decideDispute(lab, dispute, isWon, reinstatesLater);
    if (reinstatesLater)
      this.#later('funds are reinstated', (later) => void reinstate(later, getDispute(later, dispute.id)));
  }
}

/** The processor refuses to refund what is disputed. */
function unlessRefused<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
