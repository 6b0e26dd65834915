import { randomUUID } from 'node:crypto';
import {
  isApiError,
  worstCaseCents,
  type ChangeRental,
  type GpuRental,
  type Quote,
  type Rental,
} from '@gpu-rental/client';
import { ToolRefusal, type Call } from './answers.js';
import type { z } from 'zod';
import type { McpOptions } from './options.js';
import * as shapes from './shapes.js';

/** What is known of the key by which this server asks. */
export type KeyState = z.output<typeof shapes.key>;

/** A change of limits whose worst case was told, and that can be made within a minute. */
export interface QuotedExtension {
  readonly id: string;
  readonly rentalId: string;
  readonly body: ChangeRental;
  readonly worstCaseCents: number;
  readonly expiresAtMs: number;
}

const EXTENSION_MS = 60_000;
/** As many ids as the service takes at once. */
const LISTED_MAX = 100;
/** More than an agent quotes within the life of a quote. */
const REMEMBERED_MAX = 1_000;

/**
 * What lets money be spent: a key with a cap, and a worst case that the agent was told before. Only what was told here
 * can be taken, so that no agent rents by a number that it made up.
 */
export class Spending {
  readonly #client: GpuRental;
  readonly #allowUncapped: boolean;
  readonly #ownKeyBy: string;
  readonly #quotes = new Map<string, Quote>();
  readonly #extensions = new Map<string, QuotedExtension>();
  /** The machines that this conversation opened, or may have opened. */
  readonly #opened = new Set<string>();

  constructor(options: Pick<McpOptions, 'client' | 'allowUncapped' | 'ownKeyBy'>) {
    this.#client = options.client;
    this.#allowUncapped = options.allowUncapped;
    this.#ownKeyBy = options.ownKeyBy;
  }

  /** The key by which this server asks; undefined: it asks by a session. */
  key(call: Call): Promise<KeyState | undefined> {
    return readKey(this.#client, call);
  }

  /** @throws ToolRefusal where nothing limits what may be spent in all */
  async requireCap(call: Call): Promise<void> {
    if (this.#allowUncapped) return;
    const key = await this.key(call);
    if (key && key.spendCapCents !== null) return;
    const what = key
      ? 'The API key of this server has no spending cap'
      : 'This is a session, not an API key with a cap';
    throw new ToolRefusal(
      'no_spending_cap',
      `${what}, so it can’t rent or extend. Ask the user to run ${this.#ownKeyBy}: that gives this server a key with a cap. Or let them start this server with --allow-uncapped.`,
    );
  }

  /** Takes note of a machine that this conversation opened. */
  opened(rentalId: string): void {
    this.#opened.add(rentalId);
  }

  /**
   * Lets nobody else's machine be ended: with a key of its own the service sees to that, and without one this
   * conversation ends what it opened.
   * @throws ToolRefusal for another machine
   */
  async requireOwn(rentalId: string, call: Call): Promise<void> {
    if (this.#opened.has(rentalId)) return;
    const key = await this.key(call);
    if (key?.endsOwn === true) return;
    // One that there is not is told so.
    await this.#client.rentals.get(rentalId, call);
    throw new ToolRefusal(
      'not_opened_here',
      `This conversation did not open ${rentalId}, so it can’t stop or limit it. Ask the user to run: gpu stop ${rentalId}. With its own key, this server can also stop what it opened in earlier conversations: the user gives it one with ${this.#ownKeyBy}`,
    );
  }

  /**
   * The same for words of a machine, which the service leaves free to each key.
   * @throws ToolRefusal for another machine
   */
  async requireOpened(rentalId: string, call: Call): Promise<void> {
    if ((await this.ownOf([rentalId], call)).has(rentalId)) return;
    await this.#client.rentals.get(rentalId, call);
    throw new ToolRefusal(
      'not_opened_here',
      `This server did not open ${rentalId}, so it can’t rename it. Ask the user to run: gpu rename ${rentalId}`,
    );
  }

  /** How the machines are asked for that this server can end. Without a key of its own they are those opened here. */
  async ownQuery(call: Call): Promise<{ readonly mine?: true; readonly ids?: string[] }> {
    const key = await this.key(call);
    return key?.endsOwn === true ? { mine: true } : { ids: [...this.#opened].slice(-LISTED_MAX) };
  }

  /** Those of some machines that this server can end. @param ids at most 100 */
  async ownOf(ids: readonly string[], call: Call): Promise<ReadonlySet<string>> {
    const query = ids.length === 0 ? { ids: [] } : await this.ownQuery(call);
    if (query.mine !== true) return new Set(ids.filter((id) => this.#opened.has(id)));
    const own = await this.#client.rentals
      .list({ mine: true, ids: [...ids], pageSize: LISTED_MAX }, call)
      .toArray();
    return new Set(own.map(({ id }) => id));
  }

  /** Takes note of a quote that the agent is told now. */
  remember(quote: Quote): void {
    remember(this.#quotes, quote.quoteId, quote);
  }

  /** @throws ToolRefusal for a quote whose worst case this server has not told */
  quote(quoteId: string): Quote {
    const quote = this.#quotes.get(quoteId);
    if (quote) return quote;
    throw new ToolRefusal(
      'unknown_quote',
      `This server has given no quote ${quoteId}. Call quote first: it returns the maximum cost and the quoteId to rent with.`,
    );
  }

  /** Takes note of the new quote that a refusal of an old one brings. */
  rememberNewOffer(error: unknown): void {
    if (!isApiError(error, 'quote_expired') && !isApiError(error, 'price_changed')) return;
    if (error.details.quote !== null) this.remember(error.details.quote);
  }

  /** Computes the worst case of a change, and takes note of it. */
  quoteExtension(rental: Rental, body: ChangeRental): QuotedExtension {
    const extension = {
      id: `ext_${randomUUID()}`,
      rentalId: rental.id,
      body,
      worstCaseCents: worstCaseOf(rental, body),
      expiresAtMs: Date.now() + EXTENSION_MS,
    };
    remember(this.#extensions, extension.id, extension);
    return extension;
  }

  /** @throws ToolRefusal for one whose worst case this server has not told within the last minute */
  extension(id: string): QuotedExtension {
    const extension = this.#extensions.get(id);
    if (extension && extension.expiresAtMs > Date.now()) return extension;
    throw new ToolRefusal(
      'unknown_extension',
      `This server has given no extension ${id} within the last minute. Call quote_extension first: it returns the maximum cost.`,
    );
  }
}

function remember<T>(kept: Map<string, T>, id: string, value: T): void {
  kept.delete(id);
  kept.set(id, value);
  const [oldest] = kept.keys();
  if (kept.size > REMEMBERED_MAX && oldest !== undefined) kept.delete(oldest);
}

/** The key by which a client asks; undefined: it asks by a session. */
export async function readKey(client: GpuRental, call: Call): Promise<KeyState | undefined> {
  const { apiKey } = await client.auth.me(call);
  if (!apiKey) return undefined;
  const { name, ends } = apiKey;
  return shapes.key.parse({ ...apiKey, untrusted: { name }, endsOwn: ends === 'own' });
}

/**
 * What a rental costs at most, in all, with these changes: the least of its limits. A limit that is not known yet can
 * only make it less.
 * @throws ToolRefusal when nothing would limit it
 */
export function worstCaseOf(rental: Rental, change: ChangeRental): number {
  const { pricePerHourCents, totalChargedCents } = rental;
  const maxSpendCents = change.maxSpendCents ?? rental.maxSpendCents;
  const hours = change.autoStopAfterHours ?? undefined;
  const runningAt = hours === undefined ? rental.runningAt : new Date(0).toISOString();
  const autoStopAt = hours === undefined ? rental.autoStopAt : new Date(hours * 3_600_000).toISOString();
  const cents = worstCaseCents({ pricePerHourCents, runningAt, autoStopAt, maxSpendCents });
  if (cents === null) throw new ToolRefusal('no_limit', 'Set maxSpendCents or autoStopAfterHours, or both.');
  // What was used is never given back.
  return Math.max(totalChargedCents, cents);
}
