import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { RequestLost, type Answered, type Asking, type Service } from '../service.js';
import type { World } from '../world/world.js';
import type { Told } from './told.js';

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

/** A user who does what the seed says, through the API alone. */
export class User {
  hasCard = false;
  /** The ids of their rentals, oldest first: those too of which a 503 left open whether they will be. */
  readonly rentals: string[] = [];
  #sid = '';
  #browser = '';
  #keyNo = 0;

  constructor(
    readonly email: string,
    readonly parts: UserParts,
  ) {}

  /** Asks for a code by mail and signs in with it, as often as it takes. */
  async signIn(): Promise<void> {
    const { world } = this.parts;
    for (;;) {
      const known = world.mails.length;
      await this.ask('code', 'POST', '/v1/auth/request-code', { email: this.email });
      for (let look = 0; look < 30; look += 1) {
        await sleep(2_000);
        const mail = world.mails.slice(known).findLast(({ to }) => to === this.email);
        const code = /\b(\d{6})\b/.exec(mail?.text ?? '')?.[1];
        if (code === undefined) continue;
        const answer = await this.ask('verify', 'POST', '/v1/auth/verify-code', { email: this.email, code });
        if (answer?.status === 200) return;
        break;
      }
      await sleep(60_000);
    }
  }

  /** Posts with an Idempotency-Key, and repeats until there is a final answer, as a careful client does. */
  async askKeyed(kind: string, path: string, body: object): Promise<Answered | undefined> {
    const { chance } = this.parts;
    const key = { 'idempotency-key': `key-${(this.#keyNo += 1)}` };
    let answer: Answered | undefined;
    for (let tries = 0; tries < 3; tries += 1) {
      answer = await this.ask(kind, 'POST', path, body, key);
      const isFinal =
        answer !== undefined && answer.status < 500 && answer.status !== 429 && answer.status !== 409;
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
