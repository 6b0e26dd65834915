import type Stripe from 'stripe';
import type { Faults } from '../faults.js';
import type { Params } from './params.js';
import type { Store } from '../store.js';

/** The API version whose shapes the simulator speaks: that of the pinned SDK (reference: payments, Versions). */
export const apiVersion = '2026-08-26.dahlia';

/**
 * The value of the few fields that the SDK's types require and the processor's description of its API does not have.
 * They are left out when an object is written.
 */
export const unwritten = undefined as unknown as null;

/** The parts that every endpoint and page works with. */
export interface World {
  readonly store: Store;
  readonly faults: Faults;
  readonly bank: Bank;
  /** Seconds since the epoch, the processor's unit of time. */
  now(): number;
  /** Records an event about an object as it is now; it is delivered once the request is committed. */
  emit(type: Stripe.Event.Type, object: object, previous?: object): void;
  /**
   * Runs one request's work as one transaction and then sends its events.
   * @param origin the events' cause; null for effects that happen by themselves or on a page
   */
  transact<T>(origin: Origin | null, work: () => T): T;
}

/**
 * What a card's bank says to a payment beside what its test card says: it declines with a code, asks its customer, also
 * one who is away, or takes its time. null: nothing.
 */
export type Bank = (payment: {
  readonly intent: Stripe.PaymentIntent;
  readonly offSession: boolean;
}) => { readonly declines: string } | 'asks' | 'ponders' | null;

/** The API request that causes an event. */
export interface Origin {
  readonly requestId: string;
  readonly idempotencyKey: string | null;
}

/** One request to one endpoint. */
export interface Call {
  readonly world: World;
  /** The `:id` of the path; empty where it has none. */
  readonly id: string;
  readonly params: Params;
  /** The path of the request, for the `url` of lists. */
  readonly path: string;
}

/** One line of a resource's table of endpoints. Handlers are synchronous: a request is one transaction. */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  /** True: a browser may call it too, with the publishable key and the object's client_secret. */
  readonly browser?: true;
  handle(call: Call): object;
}
