import type { CheckoutSession, Payment, Processor } from '../../../adapters/processor/processor.js';

/** A call of the processor: its name, then its arguments. */
type Asked = readonly [name: string, ...args: unknown[]];

type Calls = Omit<Processor, 'enabled'>;

/** A payment processor that answers as a test scripts it and records its calls. */
export class ScriptedProcessor {
  readonly asked: Asked[] = [];
  /** The scripted answers. A call that is not among them fails. */
  answers: Partial<Calls> = {};
  /** The port that the activities get. */
  readonly port: Processor;

  /** @param enabled false: no payments are configured */
  constructor(private readonly enabled: boolean) {
    this.port = this.makePort();
  }

  get names(): string[] {
    return this.asked.map(([name]) => name);
  }

  /** The arguments of each call of this name. */
  argsOf(name: keyof Calls): unknown[] {
    return this.asked.flatMap(([asked, ...args]) => (asked === name ? args : []));
  }

  /** Forgets the recorded calls and the scripted answers. */
  reset(): void {
    this.asked.length = 0;
    this.answers = {};
  }

  private makePort(): Processor {
    const calls = names.map((name) => [name, (...args: unknown[]) => this.answer(name, args)] as const);
    return { ...(Object.fromEntries(calls) as unknown as Calls), enabled: this.enabled };
  }

  private answer(name: keyof Calls, args: unknown[]): Promise<unknown> {
    this.asked.push([name, ...args]);
    const scripted = this.answers[name] as ((...told: unknown[]) => Promise<unknown>) | undefined;
    return scripted ? scripted(...args) : Promise.reject(new Error(`the processor was asked to ${name}`));
  }
}

const names = [
  'knowsCustomer',
  'createCustomer',
  'deleteCustomer',
  'createCheckoutSession',
  'getCheckoutSession',
  'expireCheckoutSession',
  'chargeSavedCard',
  'getPayment',
  'findPaymentOfTopup',
  'cancelPayment',
  'getCard',
  'detachCard',
  'createRefund',
  'getRefund',
  'listRefundsOfCharge',
  'getDispute',
  'getCardFingerprint',
  'listEvents',
  'createInvoice',
  'finalizeInvoice',
  'getInvoice',
  'findInvoice',
  'voidInvoice',
  'writeOffInvoice',
  'listEvents',
] as const satisfies readonly (keyof Calls)[];

/** Does the work once, then throws as if the worker had died before it heard the answer. */
export function dyingOnce<A extends unknown[], T>(
  call: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  let died = false;
  return async (...args) => {
    const answer = await call(...args);
    if (died) return answer;
    died = true;
    throw new Error('the worker died');
  };
}

/** A payment in dollars that succeeded. */
export function paymentOf(
  topup: { readonly topupId: string; readonly userId: string; readonly amountCents: number },
  columns: Partial<Payment> = {},
): Payment {
  return {
    paymentId: `pi_${topup.topupId}`,
    status: 'succeeded',
    amountReceivedCents: topup.amountCents,
    currency: 'usd',
    chargeId: `ch_${topup.topupId}`,
    receiptUrl: null,
    chargedAt: new Date(),
    customerId: null,
    topupId: topup.topupId,
    userId: topup.userId,
    failure: null,
    card: null,
    ...columns,
  };
}

/** A payment page that nobody has paid yet. */
export function pageOf(topupId: string, columns: Partial<CheckoutSession> = {}): CheckoutSession {
  return {
    sessionId: `cs_${topupId}`,
    url: `http://127.0.0.1/pay/${topupId}`,
    status: 'open',
    paymentStatus: 'unpaid',
    expiresAt: new Date(Date.now() + 86_400_000),
    payment: null,
    ...columns,
  };
}
