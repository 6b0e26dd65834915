import { MailError, type Mail, type MailTransport } from '../../../adapters/mailer/smtp.js';
import type { Prober } from '../../../adapters/providers/ssh/prober.js';
import type { LabEvent } from '../../../lab/processor/tables.js';
import { signature } from '../../../lab/processor/webhooks/delivery.js';
import { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { drawHabits, type Habits } from './dialects.js';
import { forge, type Forgery } from './forgery.js';
import { Outside } from './outside.js';
import { SimulatedProcessor } from './processor.js';
import { Receivers } from './receivers.js';
import { createSimulatedProber, Upstream, type Machine } from './upstream.js';

/** What may happen to the processor's events on their way, per thousand. */
export interface EventFaults {
  lost: number;
  doubled: number;
  delayed: number;
  /** They come hours later. */
  veryLate: number;
  /** A forged one comes beside them. */
  forged: number;
}

/** A forged event that was sent, and whether the service took it. */
export type SentForgery = Forgery & { isTaken: boolean };

/** Each event comes once, at once, and nobody forges any. */
export const punctual: EventFaults = { lost: 0, doubled: 0, delayed: 0, veryLate: 0, forged: 0 };

/** How late an event may come, in milliseconds. */
const VERY_LATE_MS = 6 * 3_600_000;

/** Everything outside of the service. */
export class World {
  readonly outside: Outside;
  readonly upstreams: readonly Upstream[];
  readonly prober: Prober;
  readonly processor: SimulatedProcessor;
  /** The receivers of users' webhooks. */
  readonly receivers: Receivers;
  readonly mails: Mail[] = [];
  eventFaults: EventFaults = punctual;
  readonly forgeries: SentForgery[] = [];
  /** Events that never arrived by themselves. */
  lostEvents = 0;
  /** Posts a signed event to the service; false: it must come again. */
  post: (body: string, signature: string) => Promise<boolean> = () => Promise.resolve(false);

  /** Of all upstreams. */
  get machines(): readonly Machine[] {
    return this.upstreams.flatMap(({ machines }) => machines);
  }

  constructor(
    private readonly kernel: Kernel,
    private readonly chance: Chance,
    private readonly secret: string,
    /** How the upstreams behave; absent: as the seed draws it. */
    habits?: readonly [Habits, Habits],
  ) {
    this.outside = new Outside(kernel, chance);
    const [north, south] = habits ?? drawHabits(new Chance(chance.seed, 'habits'));
    this.upstreams = [
      new Upstream('north', north, kernel, chance, this.outside),
      new Upstream('south', south, kernel, chance, this.outside),
    ];
    this.prober = createSimulatedProber(this.upstreams, this.outside);
    this.receivers = new Receivers(kernel, new Chance(chance.seed, 'receivers'), this.outside);
    this.processor = new SimulatedProcessor(kernel, chance, this.outside);
    this.processor.onEvent = (event) => this.#deliver(event);
  }

  /** Mailboxes that take codes, and refuse everything else for ever. */
  readonly refusing = new Set<string>();

  readonly mail: MailTransport = {
    send: (mail) =>
      this.outside.call('mail', 'send', () => {
        if (this.refusing.has(mail.to) && !/\b\d{6}\b/.test(mail.text)) {
          throw new MailError('550 5.7.1 it looks like spam', false);
        }
        if (!this.mails.some(({ messageId }) => messageId === mail.messageId)) this.mails.push(mail);
      }),
    close: () => undefined,
  };

  #deliver(event: LabEvent): void {
    const { chance, eventFaults } = this;
    if (chance.perMille(eventFaults.forged)) this.#forge(event);
    if (chance.perMille(eventFaults.lost)) {
      this.lostEvents += 1;
      return;
    }
    const copies = chance.perMille(eventFaults.doubled) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) this.#send(event, this.#delayMs(), 0);
  }

  #delayMs(): number {
    const { chance, eventFaults } = this;
    if (chance.perMille(eventFaults.veryLate)) {
      this.lostEvents += 1;
      return chance.below(VERY_LATE_MS);
    }
    return chance.perMille(eventFaults.delayed) ? chance.below(600_000) : chance.below(2_000);
  }

  #send(event: LabEvent, delayMs: number, tries: number): void {
    const body = JSON.stringify(event);
    this.#post(`event ${event.type}`, delayMs, async () => {
      const isTaken = await this.post(body, this.#signature(body, this.secret, 0));
      if (isTaken) return;
      if (tries < 20) this.#send(event, 5_000 * 2 ** Math.min(tries, 8), tries + 1);
      else this.lostEvents += 1;
    });
  }

  #forge(event: LabEvent): void {
    const { processor, chance, secret } = this;
    const { payers } = processor.truth;
    const userIds = payers.length === 0 ? ['usr_nobody'] : payers;
    const forgery = forge({ event, userIds, secret, no: this.forgeries.length + 1 }, chance);
    const sent = { ...forgery, isTaken: false };
    this.forgeries.push(sent);
    this.#post(`forged ${event.type}`, chance.below(4_000), async () => {
      const signature = this.#signature(sent.signedBody, sent.secret, sent.ageSeconds);
      sent.isTaken = await this.post(sent.body, signature);
    });
  }

  #post(what: string, delayMs: number, work: () => Promise<void>): void {
    const run = (): void => void work();
    this.kernel.after(delayMs, what, run, { scope: {} });
  }

  #signature(body: string, secret: string, ageSeconds: number): string {
    return signature(body, secret, Math.floor(this.kernel.nowMs / 1_000) - ageSeconds);
  }
}
