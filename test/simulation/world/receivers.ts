import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange, Message, SendWebhook } from '../../../adapters/webhooks/sender.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Outside } from './outside.js';

/**
 * How a user's receiver answers: at once; after some seconds; not at all; with something else than what was asked for;
 * with errors; now so, now so; or with 410, once it was enabled.
 */
export const manners = ['good', 'slow', 'silent', 'garbage', 'failing', 'flaky', 'gone'] as const;
export type Manner = (typeof manners)[number];

/** A message as a receiver got it. */
export interface Receipt {
  readonly atMs: number;
  readonly id: string;
  readonly body: string;
  /** A signature in it is by a secret that the receiver knows; undefined: it knew none yet. */
  readonly isSigned: boolean | undefined;
  /** A signature in it is by the newest secret that the receiver knows. */
  readonly isSignedNewly: boolean;
  /** The status that was answered; null: nothing. */
  readonly status: number | null;
}

/** What a receiver answers, and after how long. */
interface Answer {
  /** null: nothing. */
  readonly status: number | null;
  readonly body: string;
  readonly afterMs: number;
}

/** The longest exchange (decision 102), in milliseconds: who answers later has not answered. */
const EXCHANGE_MS = 10_000;

/** One receiver of a user's webhooks, at an address of its own. */
export class Receiver {
  readonly receipts: Receipt[] = [];
  /** The secrets that its user was told, the oldest first, and since when. */
  readonly secrets: { readonly secret: string; readonly sinceMs: number }[] = [];

  constructor(
    readonly url: string,
    readonly manner: Manner,
    private readonly kernel: Kernel,
    private readonly chance: Chance,
  ) {}

  /** Takes a message in. @returns what is answered, and after how long */
  take({ headers, body }: Message): Answer {
    const signed = this.#signersOf(headers, body);
    const isSigned = this.secrets.length === 0 ? undefined : signed.length > 0;
    const answer = isSigned === true ? this.#answer(body) : { status: 401, body: '', afterMs: 0 };
    this.receipts.push({
      ...{ atMs: this.kernel.nowMs, id: headers['webhook-id'] ?? '', body, isSigned, status: answer.status },
      isSignedNewly: signed.includes(this.secrets.length - 1),
    });
    return answer;
  }

  /** Which of the known secrets have signed, as Standard Webhooks says: HMAC-SHA256 over `id.timestamp.body`. */
  #signersOf(headers: Readonly<Record<string, string>>, body: string): number[] {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = headers;
    if (Math.abs(this.kernel.nowMs - Number(at) * 1_000) > 5 * 60_000) return [];
    return this.secrets.flatMap(({ secret }, index) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      const wanted = `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`;
      return signatures.split(' ').includes(wanted) ? [index] : [];
    });
  }

  #answer(text: string): Answer {
    const { chance, manner } = this;
    const { type, data } = JSON.parse(text) as { type: string; data: { challenge?: string } };
    const taken: Answer = { status: 200, body: JSON.stringify({ challenge: data.challenge }), afterMs: 5 };
    const nothing: Answer = { status: null, body: '', afterMs: EXCHANGE_MS };
    const refused = (status: number): Answer => ({ status, body: '{"challenge": [}\u0000', afterMs: 5 });
    // Who answers events badly is enabled first.
    const isOnlyEnabled = type === 'webhook.challenge' && ['silent', 'failing', 'gone'].includes(manner);
    const answers: Readonly<Record<Manner, () => Answer>> = {
      good: () => taken,
      slow: () => ({ ...taken, afterMs: 2_000 + chance.below(7_000) }),
      silent: () => nothing,
      garbage: () => refused(chance.pick([200, 302, 999])),
      failing: () => refused(500),
      flaky: () => chance.pick([taken, taken, nothing, refused(503)]),
      gone: () => refused(410),
    };
    return isOnlyEnabled ? taken : answers[manner]();
  }
}

/** All receivers of webhooks, by their addresses. */
export class Receivers {
  readonly all = new Map<string, Receiver>();

  constructor(
    private readonly kernel: Kernel,
    private readonly chance: Chance,
    private readonly outside: Outside,
  ) {}

  /** Opens a receiver at an address that nobody has. Its host is an address, so that no name is looked up. */
  open(manner: Manner): Receiver {
    const url = `http://203.0.113.7/hooks/${this.all.size + 1}`;
    const receiver = new Receiver(url, manner, this.kernel, this.chance);
    this.all.set(url, receiver);
    return receiver;
  }

  /** The way to the receivers, as the service has it. */
  readonly send: SendWebhook = async (message) => {
    const begunMs = this.kernel.nowMs;
    const ended = (result: Partial<Exchange>): Exchange => ({
      ...{ status: null, fault: null, body: '', ...result },
      durationMs: this.kernel.nowMs - begunMs,
    });
    try {
      const take = () => this.all.get(message.url)?.take(message);
      const answer = await this.outside.call('receiver', 'post', take);
      if (answer === undefined) return ended({ fault: 'connection' });
      await sleep(Math.min(answer.afterMs, EXCHANGE_MS));
      const { status, body } = answer;
      return status === null ? ended({ fault: 'timeout' }) : ended({ status, body });
    } catch {
      return ended({ fault: 'timeout' });
    }
  };
}
