import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { RequestLost, type Answered, type Asking, type Service } from '../service.js';
import type { World } from '../world/world.js';
import type { Told, ToldKey } from './told.js';

export interface UserParts {
  readonly kernel: Kernel;
  /** The stream of the present act. */
  chance: Chance;
  /** Returns the stream of an act, counted from 1; undefined: it is left out. */
  readonly act: (no: number) => Chance | undefined;
  readonly service: Service;
  readonly world: World;
  readonly told: Told;
  readonly untilMs: number;
  /** The mean pause between two acts, in milliseconds. */
  readonly paceMs: number;
}

type Headers = Readonly<Record<string, string>>;

/** How long a sign-in lets a user make what outlives it (N12), in milliseconds. */
const FRESH_MS = 15 * 60_000;

/** So many users of a thousand spend all that they have. */
const SPENDTHRIFTS = 300;

/** A user who does what the seed says, through the API alone. */
export class User {
  hasCard = false;
  hasPaid = false;
  /** Auto-topup may be on. */
  isToppedUp = false;
  /** Their account is being closed: they begin nothing more. */
  isLeaving = false;
  /** Pays once, rents as much as that pays for, and lets it run until the money is out. */
  readonly isSpendthrift: boolean;
  /** The ids of their rentals, oldest first: those too of which a 503 left open whether they will be. */
  readonly rentals: string[] = [];
  readonly keys: ToldKey[] = [];
  #sid = '';
  #browser = '';
  #keyNo = 0;
  /** Between these the user last proved who they are. */
  #proved = { sentMs: -Infinity, answeredMs: -Infinity };

  constructor(
    readonly email: string,
    readonly parts: UserParts,
  ) {
    this.isSpendthrift = parts.chance.perMille(SPENDTHRIFTS);
  }

  /** Signs in by a mailed code, however often it takes. */
  async signIn(): Promise<void> {
    const { email } = this;
    const path = '/v1/auth/request-code';
    for (;;) {
      const code = await this.#mailedCode(() => this.ask('code', 'POST', path, { email }));
      if (code !== undefined && (await this.#prove('verify', '/v1/auth/verify-code', { email, code })))
        return;
      await sleep(60_000);
    }
  }

  /** Shows anew who they are, by a mailed code. @returns false when it did not work out this time */
  async proveAgain(): Promise<boolean> {
    const path = '/v1/auth/refresh-proof';
    const code = await this.#mailedCode(() => this.ask('proof code', 'POST', path, {}));
    return code !== undefined && (await this.#prove('proof', path, { code }));
  }

  /**
   * Asks for what needs a fresh sign-in (N12), which is proved anew where the service asks for it.
   * @param isNeeded false: it may be granted without one
   */
  async askFreshly(
    kind: string,
    method: Asking['method'],
    path: string,
    body: object,
    isNeeded = true,
  ): Promise<Answered | undefined> {
    for (let tries = 0; ; tries += 1) {
      const sentMs = this.parts.kernel.nowMs;
      const answer = await this.ask(kind, method, path, body);
      this.#judgeFreshness(kind, sentMs, answer, isNeeded);
      if (!isStale(answer) || tries > 0 || !(await this.proveAgain())) return answer;
    }
  }

  #judgeFreshness(kind: string, askedMs: number, answer: Answered | undefined, isNeeded: boolean): void {
    const { kernel, told } = this.parts;
    const { sentMs, answeredMs } = this.#proved;
    // Twins may prove it anew meanwhile.
    if (answeredMs >= askedMs) return;
    if (isStale(answer) && kernel.nowMs < sentMs + FRESH_MS)
      told.strange.push(`${this.email}: ${kind} was refused to a sign-in of ${kernel.nowMs - sentMs} ms ago`);
    else if (isNeeded && answer?.status === 200 && askedMs > answeredMs + FRESH_MS)
      told.strange.push(`${this.email}: ${kind} was granted to a sign-in of ${askedMs - answeredMs} ms ago`);
  }

  async #mailedCode(ask: () => Promise<Answered | undefined>): Promise<string | undefined> {
    const { mails } = this.parts.world;
    const known = mails.length;
    await ask();
    for (let look = 0; look < 30; look += 1) {
      await sleep(2_000);
      const mail = mails.slice(known).findLast(({ to, text }) => to === this.email && codeIn(text));
      if (mail !== undefined) return codeIn(mail.text);
    }
    return undefined;
  }

  async #prove(kind: string, path: string, body: object): Promise<boolean> {
    const { kernel } = this.parts;
    const sentMs = kernel.nowMs;
    const answer = await this.ask(kind, 'POST', path, body);
    const { id } = (answer?.body['user'] ?? {}) as { id?: string };
    if (id !== undefined) this.parts.told.users.set(this.email, id);
    if (answer?.status === 200) this.#proved = { sentMs, answeredMs: kernel.nowMs };
    // A renewed session has another token: whoever never hears of it is signed out.
    if (answer === undefined && kind === 'proof') await this.signIn();
    return answer?.status === 200;
  }

  /** Asks with an Idempotency-Key, and repeats until there is a final answer, as a careful client does. */
  async askKeyed(
    kind: string,
    path: string,
    body: object,
    { method = 'POST', headers = {} }: { method?: Asking['method']; headers?: Headers } = {},
  ): Promise<Answered | undefined> {
    const { chance } = this.parts;
    const key = { ...headers, 'idempotency-key': `key-${(this.#keyNo += 1)}` };
    let answer: Answered | undefined;
    for (let tries = 0; tries < 3; tries += 1) {
      answer = await this.ask(kind, method, path, body, key);
      const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429 && !isOpen(answer);
      if (isFinal && !chance.perMille(50)) return answer;
      await sleep(500 + chance.below(20_000));
    }
    return answer;
  }

  /**
   * Sends a request with the session's cookies, unless its headers hold others.
   * @param kind names it in the trace and in the report
   * @returns undefined when the connection was lost before the answer
   */
  async ask(
    kind: string,
    method: Asking['method'],
    path: string,
    body?: object,
    headers: Headers = {},
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
      this.#keepCookies(answer);
      const word = answer.status === 200 ? '' : ` ${String(answer.body['error'])}`;
      this.#count(`${kind} ${answer.status}${word}`);
      kernel.trace.line(kernel.nowMs, `${this.email} ${kind}: ${answer.status}${word}`);
      if (answer.status >= 500) this.#notePromise(answer);
      // No disturbance is a failure that stays: what the database refuses here would do in a moment (decision 124).
      if (answer.status === 500)
        this.parts.told.strange.push(`${this.email}: ${method} ${path} was answered with 500${word}`);
      return answer;
    } catch (error) {
      if (!(error instanceof RequestLost)) throw error;
      this.#count(`${kind} lost`);
      return undefined;
    }
  }

  #keepCookies({ cookies }: Answered): void {
    for (const { name, value } of cookies) {
      if (name === 'sid') this.#sid = value;
      if (name === 'browser') this.#browser = value;
    }
  }

  /** A 503 names what may yet be, or promises that it will never be (decision 4). */
  #notePromise({ body }: Answered): void {
    const details = (body['details'] ?? {}) as Record<string, unknown>;
    const { outcome, rentalId } = details;
    for (const id of [rentalId, details['topupId'], details['changeId']]) {
      if (typeof id === 'string' && outcome === 'not_done') this.parts.told.never.add(id);
    }
    if (typeof rentalId === 'string' && !this.rentals.includes(rentalId)) this.rentals.push(rentalId);
  }

  #count(what: string): void {
    const { reached } = this.parts.told;
    reached.set(what, (reached.get(what) ?? 0) + 1);
  }
}

function isStale(answer: Answered | undefined): boolean {
  return answer?.body['error'] === 'fresh_sign_in_required';
}

/** Tells whether the same request under the same key may be answered otherwise later. */
function isOpen({ body }: Answered): boolean {
  return body['error'] === 'idempotency_in_progress' || body['error'] === 'charge_in_progress';
}

function codeIn(text: string): string | undefined {
  return /\b(\d{6})\b/.exec(text)?.[1];
}
