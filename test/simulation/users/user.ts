import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { RequestLost, type Answered, type Asking, type Service } from '../service.js';
import { payInvoice } from '../world/processor-invoices.js';
import type { World } from '../world/world.js';

/** A request of a user for a stop: when it left, and when its answer came. Milliseconds since 1970. */
export interface ToldStop {
  readonly rentalId: string;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly status: number | 'lost';
}

/** A rental as its user was told of it. */
export interface ToldRental {
  readonly rentalId: string;
  readonly email: string;
  readonly pricePerHourCents: number;
  readonly autoStopAfterHours: number | undefined;
  readonly maxSpendCents: number | undefined;
  readonly answeredMs: number;
}

/** What all users were told, for the oracle. */
export class Told {
  readonly rentals = new Map<string, ToldRental>();
  readonly stops: ToldStop[] = [];
  /** Rentals of which a 503 said that they will never be. */
  readonly never = new Set<string>();
  /** Requests by their kind and answer, such as "create 200". */
  readonly reached = new Map<string, number>();
  readonly strange: string[] = [];
}

const families = ['rtx-4090', 'a100-80gb', 'h100-80gb'] as const;

/** A user who does what the seed says, through the API alone. */
export class User {
  #sid = '';
  #browser = '';
  #keyNo = 0;
  #hasCard = false;
  readonly #rentals: string[] = [];

  constructor(
    readonly email: string,
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly service: Service;
      readonly world: World;
      readonly told: Told;
      readonly untilMs: number;
      /** The mean pause between two acts, in milliseconds. */
      readonly paceMs: number;
    },
  ) {}

  /** Lives until the end of the users' time. */
  async live(): Promise<void> {
    const { kernel, chance, untilMs, paceMs } = this.parts;
    await sleep(1_000 + chance.below(60_000));
    await this.#signIn();
    await this.#topUp();
    while (kernel.nowMs < untilMs) {
      await sleep(chance.pauseMs(paceMs));
      if (kernel.nowMs >= untilMs) return;
      await this.#act();
    }
  }

  /** Stops everything at the end, as somebody who leaves for good. */
  async leave(): Promise<void> {
    for (const rentalId of this.#rentals) await this.#stop(rentalId);
  }

  async #act(): Promise<void> {
    const act = this.parts.chance.below(100);
    if (act < 38) await this.#rent();
    else if (act < 62) await this.#stopOne();
    else if (act < 76) await this.#topUp();
    else if (act < 82) await this.#saveCard();
    else if (act < 87) await this.#autoTopup();
    else if (act < 91) await this.#payInvoice();
    else if (act < 96) await this.#look();
    else await this.#race();
  }

  async #signIn(): Promise<void> {
    const { world } = this.parts;
    for (;;) {
      const known = world.mails.length;
      await this.#ask('code', 'POST', '/v1/auth/request-code', { email: this.email });
      for (let look = 0; look < 30; look += 1) {
        await sleep(2_000);
        const mail = world.mails.slice(known).findLast(({ to }) => to === this.email);
        const code = /\b(\d{6})\b/.exec(mail?.text ?? '')?.[1];
        if (code === undefined) continue;
        const answer = await this.#ask('verify', 'POST', '/v1/auth/verify-code', { email: this.email, code });
        if (answer?.status === 200) return;
        break;
      }
      await sleep(60_000);
    }
  }

  async #rent(): Promise<void> {
    const { told, kernel } = this.parts;
    const body = this.#wish();
    const answer = await this.#askKeyed('create', '/v1/rentals', body);
    if (answer?.status === 503) this.#noteUnknown(answer);
    const { id, pricePerHourCents } = answer?.body ?? {};
    if (answer?.status !== 200 || typeof id !== 'string') return;
    if (!this.#rentals.includes(id)) this.#rentals.push(id);
    const said = { autoStopAfterHours: body.autoStopAfterHours, maxSpendCents: body.maxSpendCents };
    told.rentals.set(id, {
      ...{ rentalId: id, email: this.email, pricePerHourCents: Number(pricePerHourCents) },
      ...{ ...said, answeredMs: kernel.nowMs },
    });
  }

  #wish(): { familyId: string; gpuCount: number; autoStopAfterHours?: number; maxSpendCents?: number } {
    const { chance } = this.parts;
    return {
      familyId: chance.pick(families),
      gpuCount: chance.pick([1, 1, 2]),
      ...(chance.perMille(700) ? { autoStopAfterHours: 0.2 + chance.below(40) / 10 } : {}),
      ...(chance.perMille(300) ? { maxSpendCents: 20 + chance.below(400) } : {}),
    };
  }

  /** A 503 names the rental that may yet be, or promises that it will never be (decision 4). */
  #noteUnknown(answer: Answered): void {
    const { rentalId, outcome } = (answer.body['details'] ?? {}) as Record<string, unknown>;
    if (typeof rentalId !== 'string') return;
    if (outcome === 'not_done') this.parts.told.never.add(rentalId);
    this.#rentals.push(rentalId);
  }

  async #stopOne(): Promise<void> {
    const { chance } = this.parts;
    if (this.#rentals.length > 0) await this.#stop(chance.pick(this.#rentals.slice(-4)));
  }

  async #stop(rentalId: string): Promise<void> {
    const { kernel, told } = this.parts;
    const sentMs = kernel.nowMs;
    const answer = await this.#ask('stop', 'POST', `/v1/rentals/${rentalId}/stop`);
    told.stops.push({ rentalId, sentMs, answeredMs: kernel.nowMs, status: answer?.status ?? 'lost' });
  }

  async #topUp(): Promise<void> {
    const { chance, world } = this.parts;
    const amountCents = chance.pick([500, 1_000, 2_500]);
    const answer = await this.#askKeyed('checkout', '/v1/billing/checkout', { amountCents });
    const url = answer?.body['checkoutUrl'];
    if (typeof url !== 'string' || chance.perMille(100)) return;
    await sleep(5_000 + chance.below(120_000));
    world.processor.payPage(url, chance.perMille(300));
  }

  async #saveCard(): Promise<void> {
    const answer = await this.#ask('setup', 'POST', '/v1/billing/setup-intent');
    const secret = answer?.body['clientSecret'];
    if (typeof secret !== 'string') return;
    await sleep(20_000);
    this.parts.world.processor.confirmSetup(secret);
    this.#hasCard = true;
  }

  async #autoTopup(): Promise<void> {
    const { chance } = this.parts;
    if (!this.#hasCard) return this.#saveCard();
    const body = chance.perMille(800)
      ? {
          enabled: true,
          thresholdCents: 100 + chance.below(300),
          topupAmountCents: 1_000 + chance.below(1_000),
        }
      : { enabled: false };
    await this.#ask('auto-topup', 'PUT', '/v1/billing/auto-topup', body);
  }

  async #payInvoice(): Promise<void> {
    const { world, chance } = this.parts;
    const answer = await this.#ask('invoices', 'GET', '/v1/billing/invoices?status=open');
    const [first] = (answer?.body['data'] ?? []) as { id: string }[];
    const invoice = world.processor.invoices.find(({ ourId }) => ourId === first?.id);
    if (invoice === undefined) return;
    await sleep(1_000 + chance.below(60_000));
    payInvoice(world.processor, invoice);
  }

  async #look(): Promise<void> {
    await this.#ask('balance', 'GET', '/v1/billing/balance');
    const answer = await this.#ask('rentals', 'GET', '/v1/rentals');
    const { told } = this.parts;
    for (const { id } of (answer?.body['rentals'] ?? []) as { id: string }[]) {
      const owner = told.rentals.get(id)?.email;
      if (owner !== undefined && owner !== this.email)
        told.strange.push(`${this.email} sees ${id} of ${owner}`);
    }
  }

  /** Does several things at once, against each other. */
  async #race(): Promise<void> {
    const acts = [
      () => this.#rent(),
      () => this.#rent(),
      () => this.#topUp(),
      () => this.#stopOne(),
      () => this.#stopOne(),
    ];
    await Promise.all(acts.map((act) => act()));
  }

  /** Asks with an Idempotency-Key, and repeats until there is a final answer, as a careful client does. */
  async #askKeyed(kind: string, path: string, body: object): Promise<Answered | undefined> {
    const { chance } = this.parts;
    const key = { 'idempotency-key': `key-${(this.#keyNo += 1)}` };
    let answer: Answered | undefined;
    for (let tries = 0; tries < 3; tries += 1) {
      answer = await this.#ask(kind, 'POST', path, body, key);
      const isFinal =
        answer !== undefined && answer.status < 500 && answer.status !== 429 && answer.status !== 409;
      if (isFinal && !chance.perMille(50)) return answer;
      await sleep(500 + chance.below(20_000));
    }
    return answer;
  }

  async #ask(
    kind: string,
    method: Asking['method'],
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered | undefined> {
    const { service, kernel } = this.parts;
    try {
      const answer = await service.request({
        ...{ method, path },
        headers: {
          cookie: `sid=${this.#sid}; browser=${this.#browser}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      for (const { name, value } of answer.cookies) {
        if (name === 'sid') this.#sid = value;
        if (name === 'browser') this.#browser = value;
      }
      const word = answer.status === 200 ? '' : ` ${String(answer.body['error'])}`;
      this.#count(`${kind} ${answer.status}${word}`);
      kernel.trace.line(kernel.nowMs, `${this.email} ${kind}: ${answer.status}${word}`);
      return answer;
    } catch (error) {
      if (!(error instanceof RequestLost)) throw error;
      this.#count(`${kind} lost`);
      return undefined;
    }
  }

  #count(what: string): void {
    const { reached } = this.parts.told;
    reached.set(what, (reached.get(what) ?? 0) + 1);
  }
}
