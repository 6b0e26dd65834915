import Joi from 'joi';
import { newId } from './ids.js';

/**
 * Faults that a test or a person orders, each for a number of times:
 * - `status`: answers with an error status and does nothing; `sticky` keeps that answer under the idempotency key.
 * - `html`: a 502 page, as a proxy in between would send.
 * - `reset`: cuts the connection before anything is done. `hang`: it stays open and silent.
 * - `slow`: does the request after `delayMs`; its idempotency key is in use meanwhile.
 * - `lost`: does the request and loses its answer: connection cut, or silent with `silent`.
 * - `decline`: declines the next payment with `declineCode`, whatever its card.
 * - `processing`: leaves the next payment undecided; `POST /lab/payment_intents/<id>/finish` decides it.
 * - `event_drop`, `event_duplicate`, `event_delay` (`delayMs`), `event_reorder`: strike a webhook.
 */
export type FaultKind = RequestFaultKind | EventFaultKind | PaymentFaultKind;
export type RequestFaultKind = 'status' | 'html' | 'reset' | 'hang' | 'slow' | 'lost';
export type PaymentFaultKind = 'decline' | 'processing';
export type EventFaultKind = 'event_drop' | 'event_duplicate' | 'event_delay' | 'event_reorder';

export interface Fault {
  readonly id: string;
  readonly kind: FaultKind;
  /** The number of times that it still happens. */
  readonly times: number;
  /** Requests: the beginning of their path; undefined means every path under /v1. */
  readonly path?: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Events: their kind, such as `checkout.session.completed`; undefined means any. */
  readonly type?: string;
  readonly status: number;
  /** The code of a 429: `rate_limit` by default, or `lock_timeout` when another request holds the object. */
  readonly code?: string;
  readonly delayMs: number;
  readonly declineCode: string;
  readonly sticky: boolean;
  readonly silent: boolean;
}

const kinds: readonly FaultKind[] = [
  'status',
  'html',
  'reset',
  'hang',
  'slow',
  'lost',
  'decline',
  'processing',
  'event_drop',
  'event_duplicate',
  'event_delay',
  'event_reorder',
];

const schema = Joi.object({
  kind: Joi.string()
    .valid(...kinds)
    .required(),
  times: Joi.number().integer().min(1).max(1_000_000).default(1),
  path: Joi.string().pattern(/^\//),
  method: Joi.string().valid('GET', 'POST', 'DELETE'),
  type: Joi.string(),
  status: Joi.number().integer().min(400).max(599).default(500),
  code: Joi.string(),
  delayMs: Joi.number().integer().min(0).max(600_000).default(1000),
  declineCode: Joi.string().default('generic_decline'),
  sticky: Joi.boolean().default(false),
  silent: Joi.boolean().default(false),
}).required();

/** Thrown for an order with faults in it; its message names them all. */
export class FaultOrderError extends Error {
  override readonly name = 'FaultOrderError';
}

/** The faults that will still happen, first ordered first. They live in memory: a restart forgets them. */
export class Faults {
  #ordered: Fault[] = [];

  /** @throws FaultOrderError */
  order(input: unknown): Fault {
    const { error, value } = schema.validate(input, { abortEarly: false }) as {
      error?: Joi.ValidationError;
      value: Omit<Fault, 'id'>;
    };
    if (error) throw new FaultOrderError(error.message);
    const fault: Fault = { id: newId('fault', 8), ...value };
    this.#ordered.push(fault);
    return fault;
  }

  list(): readonly Fault[] {
    return this.#ordered;
  }

  clear(): void {
    this.#ordered = [];
  }

  /** Uses up one request fault that fits, if there is one. */
  takeRequest(method: string, path: string, among: readonly RequestFaultKind[]): Fault | undefined {
    return this.#take(
      (fault) =>
        among.some((kind) => kind === fault.kind) &&
        (fault.path === undefined || path.startsWith(fault.path)) &&
        (fault.method === undefined || fault.method === method),
    );
  }

  takeEvent(type: string): Fault | undefined {
    return this.#take(
      (fault) => fault.kind.startsWith('event_') && (fault.type === undefined || fault.type === type),
    );
  }

  /** The decline code of the next payment, when one was ordered. */
  takeDecline(): string | undefined {
    return this.#take((fault) => fault.kind === 'decline')?.declineCode;
  }

  /** Tells whether the next payment stays undecided. */
  takeProcessing(): boolean {
    return this.#take((fault) => fault.kind === 'processing') !== undefined;
  }

  #take(fits: (fault: Fault) => boolean): Fault | undefined {
    const taken = this.#ordered.find(fits);
    if (taken === undefined) return undefined;
    this.#ordered = this.#ordered
      .map((fault) => (fault === taken ? { ...fault, times: fault.times - 1 } : fault))
      .filter((fault) => fault.times > 0);
    return taken;
  }
}
