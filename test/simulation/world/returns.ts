import type Stripe from 'stripe';
import type { ApiRequest } from '../../../lab/processor/api.js';
import type { World as Lab } from '../../../lab/processor/http/endpoint.js';
import { idOf } from '../../../lab/processor/ids.js';
import { failRefund, getRefund } from '../../../lab/processor/payments/refunds.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { currentScope } from '../kernel/scope.js';

/** What becomes of so many of a thousand refunds that the service asks for. */
export interface ReturnFaults {
  /** The request, and what repeats it, arrives minutes after everybody has given it up. */
  readonly late: number;
  /** Our account there has too little for now. */
  readonly refusedForNow: number;
  /** The payment takes nothing back, whenever it is asked. */
  readonly refusedForGood: number;
  /** The bank of the card sends it back. */
  readonly bounces: number;
  /** Our account there does not know the payment: it was paid to another one (decision 194). */
  readonly unknown: number;
  /** The mean time until then, and until an account knows a payment after all, in milliseconds. */
  readonly pauseMs: number;
}

export const willingCards: ReturnFaults = {
  ...{ late: 0, refusedForNow: 0, refusedForGood: 0, bounces: 0, unknown: 0, pauseMs: 0 },
};

/** How late a request may arrive, in milliseconds: less than the service gives it (`lateAnswerMs`). */
const LATE_MAX_MS = 8 * 60_000;
/** Of a thousand payments that our account does not know it knows so many after all: it was not ours for a while. */
const KNOWN_AGAIN = 400;

/** What becomes of the refunds that the service itself asks for, as an account closes. */
export class Returns {
  faults = willingCards;
  /** The payments that take nothing back. */
  readonly notRefundable = new Set<string>();
  /** The payments that our account does not know, and whether it never will. */
  readonly unknown = new Map<string, 'for good' | 'for now'>();
  readonly #asked = new Set<string>();
  /** The payments that a closing has looked at. */
  readonly #seen = new Set<string>();
  /** The keys of requests that are still on their way. */
  readonly #late = new Set<string>();

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly lab: () => Lab;
    },
  ) {}

  /** Lets a request arrive late, by chance. @returns whether it does, so that nobody hears of it */
  delays(request: ApiRequest, arrive: () => unknown): boolean {
    const { kernel, chance } = this.parts;
    const key = request.headers['idempotency-key'] ?? '';
    if (this.#late.has(key)) return true;
    if (!isReturn(request) || !chance.perMille(this.faults.late)) return false;
    this.#late.add(key);
    const run = (): void => {
      this.#late.delete(key);
      arrive();
    };
    kernel.after(chance.below(LATE_MAX_MS), 'the request for a refund arrives', run, { scope: {} });
    return true;
  }

  /** Draws whether our account knows a payment, when a closing looks at it for the first time and nothing went back of it. */
  look({ method, path }: ApiRequest): void {
    const { chance, kernel, lab } = this.parts;
    const id = paymentOf(path);
    if (method !== 'GET' || id === '' || currentScope().duty !== 'lookAtClosing' || this.#seen.has(id))
      return;
    this.#seen.add(id);
    const isReversed = (['refunds', 'disputes'] as const).some((table) =>
      lab()
        .store.list(table)
        .some(({ payment_intent: intent }) => idOf(intent) === id),
    );
    if (isReversed || !chance.perMille(this.faults.unknown)) return;
    const isForNow = chance.perMille(KNOWN_AGAIN);
    this.unknown.set(id, isForNow ? 'for now' : 'for good');
    kernel.trace.line(kernel.nowMs, `our account does not know ${id}`);
    const run = (): void => void this.unknown.delete(id);
    if (isForNow)
      kernel.after(chance.pauseMs(this.faults.pauseMs), `${id} is known again`, run, { scope: {} });
  }

  /** The bank of the card sends back what was given back of a payment. */
  bounce(paymentId: string): void {
    const lab = this.parts.lab();
    const refund = lab.store
      .list('refunds')
      .findLast(({ payment_intent: intent }) => idOf(intent) === paymentId);
    if (refund !== undefined) lab.transact(null, () => failRefund(lab, refund));
  }

  /** Returns the processor's word where it refuses a request; undefined: it does it. */
  refusalOf(request: ApiRequest): string | undefined {
    if (this.unknown.has(paymentOf(request.path))) return 'resource_missing';
    if (!isReturn(request)) return undefined;
    const { chance } = this.parts;
    const paymentId = new URLSearchParams(request.body).get('payment_intent') ?? '';
    const isFirst = !this.#asked.has(paymentId);
    this.#asked.add(paymentId);
    if (isFirst && chance.perMille(this.faults.refusedForGood)) this.notRefundable.add(paymentId);
    if (this.notRefundable.has(paymentId)) return 'charge_not_refundable';
    return chance.perMille(this.faults.refusedForNow) ? 'balance_insufficient' : undefined;
  }

  /** Draws what will become of a refund that was just made. */
  draw({ id, metadata }: Stripe.Refund): void {
    const { kernel, chance, lab } = this.parts;
    const { bounces, pauseMs } = this.faults;
    if (metadata?.['refund_key'] === undefined || !chance.perMille(bounces)) return;
    const run = (): void => {
      if (this.faults.bounces > 0) lab().transact(null, () => failRefund(lab(), getRefund(lab(), id)));
    };
    kernel.after(chance.pauseMs(pauseMs), 'a bank sends a refund back', run, { scope: {} });
  }
}

/** The payment of a path; '': it is of none. */
function paymentOf(path: string): string {
  return /^\/v1\/payment_intents\/(pi_\w+)$/.exec(path)?.[1] ?? '';
}

function isReturn({ method, path }: ApiRequest): boolean {
  return method === 'POST' && path === '/v1/refunds';
}
