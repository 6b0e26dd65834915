import type { Middleware } from 'koa';
import { askHolders, type HeldBy } from '../../../adapters/postgres/accounts/holders.js';
import type { ApiDeps, ApiState, Caller } from '../../context.js';
import { addressOf } from './client-address.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

interface Answer {
  readonly ctx: Context;
  readonly holder: HeldBy;
  /** When it was asked for last, in the milliseconds of performance.now(). */
  readonly sinceMs: number;
}

/**
 * The answers that are being sent to sessions and keys. One whose session or key has ended meanwhile is cut, however
 * slowly it is read (decision 129, "Unread answers"). Streams of events are asked about with their places
 * (events/registry.ts), and end with a word of why. A database that is away ends nothing.
 */
export class AnswersUnderWay {
  readonly #deps: Pick<ApiDeps, 'db' | 'log' | 'settings'>;
  readonly #answers = new Set<Answer>();
  #looks = false;

  constructor(deps: Pick<ApiDeps, 'db' | 'log' | 'settings'>) {
    this.#deps = deps;
  }

  /** Watches the answer of a request until it is over. */
  watch(ctx: Context, caller: Caller): void {
    if (ctx.res.closed) return;
    const answer = { ctx, holder: heldBy(ctx, caller), sinceMs: performance.now() };
    this.#answers.add(answer);
    ctx.res.once('close', () => this.#answers.delete(answer));
    if (!this.#looks) this.#lookLater();
  }

  async #look(): Promise<void> {
    const { db, log, settings } = this.#deps;
    const dueMs = performance.now() - settings.askAgainMs;
    const due = [...this.#answers].filter(
      ({ ctx, sinceMs }) => sinceMs <= dueMs && ctx.res.headersSent && ctx.respond !== false,
    );
    try {
      const held =
        due.length === 0
          ? []
          : await askHolders(
              db,
              due.map(({ holder }) => holder),
            );
      for (const [nth, { ctx }] of due.entries()) if (held[nth] === false) ctx.res.destroy();
    } catch (error) {
      log.warn({ err: error }, 'answers under way could not ask for their sessions and keys; they go on');
    }
    this.#looks = false;
    if (this.#answers.size > 0) this.#lookLater();
  }

  #lookLater(): void {
    this.#looks = true;
    setTimeout(() => void this.#look(), this.#deps.settings.askAgainMs).unref();
  }
}

function heldBy(ctx: Context, caller: Caller): HeldBy {
  if (caller.kind === 'session') return { kind: 'session', tokenHash: caller.tokenHash };
  const { keyId, isCapped } = caller;
  return { kind: 'key', keyId, isCapped, address: addressOf(ctx.ip) };
}
