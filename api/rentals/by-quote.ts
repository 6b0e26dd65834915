import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { findQuote } from '../../adapters/postgres/rentals/quotes.js';
import { findRental, type RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { QuoteRow } from '../../adapters/postgres/rows/tables.js';
import { isId, type ApiKeyId, type ListingId, type QuoteId, type UserId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { noSuchQuote } from '../../domain/rentals/quotes.js';
import { Refusal, type RefusalDetails } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { fields, needed, type Read, idField } from '../http/fields.js';
import { manyFieldsRefusal, readBody } from '../http/validation.js';
import { quote, unavailable, type Quote } from './quotes.js';

/** The body of POST /v1/rentals that takes a quote (decision 104, "Quotes and alternatives"). */
export const quoteBodySchema = fields({
  quoteId: needed(idField('quo')),
});

export type QuoteBody = Read<typeof quoteBodySchema>;

/**
 * Reads the body of a create by quote; undefined for a body that names no quote.
 * @throws Refusal validation_failed, naming each other field: the quote says them all
 */
export function readQuoteBody(ctx: ApiContext): QuoteBody | undefined {
  const { body } = ctx.state;
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'quoteId')) return undefined;
  const others = Object.keys(body).filter((field) => field !== 'quoteId');
  if (others.length > 0) {
    throw manyFieldsRefusal(
      others,
      (field) =>
        `${field} can’t be combined with quoteId, because the quote sets it. Get another quote to change it`,
    );
  }
  return readBody(ctx, quoteBodySchema);
}

/**
 * Finds a user's quote.
 * @throws Refusal quote_not_found, for another user's too (decision 5, "Foreign ids")
 */
export async function getQuote(db: Database, userId: UserId, id: string): Promise<QuoteRow> {
  const row = isId('quo', id) && (await findQuote(db, userId, id));
  if (!row) throw noSuchQuote();
  return row;
}

/** What a quote asks for, at the quoted price or below. @param apiKeyId the key that takes it */
export function requestOf(row: QuoteRow, apiKeyId?: ApiKeyId): RentalRequest {
  const { user_id: userId, price_per_hour_cents: maxPricePerHourCents } = row;
  return { ...row.request, userId, maxPricePerHourCents, ...(apiKeyId !== undefined && { apiKeyId }) };
}

/** Finds the rental that was opened by a user's quote; undefined until one was. */
export async function findRentalOfQuote(
  db: Database | Transaction,
  { userId, onlyOf }: Pick<Refused, 'userId' | 'onlyOf'>,
  id: string,
): Promise<RentalWithHealth | undefined> {
  const row = isId('quo', id) ? await findQuote(db, userId, id) : undefined;
  return row?.rental_id ? findRental(db, userId, row.rental_id, onlyOf) : undefined;
}

/** What was refused: a request of a user's own, or one by a quote of theirs. */
export interface Refused {
  readonly userId: UserId;
  /** undefined for a create by quote, whose quote says it. */
  readonly request: RentalRequest | undefined;
  readonly quoteId: string | undefined;
  /** The API key that asks; undefined for a session. */
  readonly apiKeyId: ApiKeyId | undefined;
  /** The same key, if it has a cap: it knows its own quotes alone. */
  readonly onlyOf: ApiKeyId | undefined;
}

/**
 * Adds to the refusal of a create what can be had instead: alternatives, and a new quote where an old one does not hold
 * any more. What can't be found out now is left out: the refusal stands.
 */
export async function withOffers(
  ctx: ApiContext,
  deps: ApiDeps,
  refused: Refused,
  refusal: Refusal,
): Promise<Refusal> {
  const { db } = deps;
  const { triedListingIds = [], ...details } = (refusal.details ?? {}) as Tried;
  try {
    if (refusal.code === 'model_unavailable') {
      const request = await askedFor(db, refused);
      if (!request) return refusal;
      const now = await unavailable(db, request, triedListingIds, refusal.message);
      // One that own software is in the way of tells nothing of the market.
      return now.code === refusal.code
        ? new Refusal(now.code, now.message, { ...details, ...now.details })
        : now;
    }
    if (refusal.code !== 'quote_expired' && refusal.code !== 'price_changed') return refusal;
    const request = await askedFor(db, refused);
    const offer = request ? await quoteOrAlternatives(deps, request, triedListingIds) : nothing;
    return new Refusal(refusal.code, refusal.message, { ...details, ...offer });
  } catch (error) {
    ctx.state.log.warn({ err: error }, 'no alternatives could be found for a refusal');
    return new Refusal(refusal.code, refusal.message, { ...details, ...noOffers[refusal.code] });
  }
}

type Tried = RefusalDetails & { readonly triedListingIds?: readonly ListingId[] };

/** A new quote; or null, and what can be had instead. */
type Offer = { readonly quote: Quote } | { readonly quote: null; readonly alternatives: unknown };

const nothing: Offer = { quote: null, alternatives: [] };
const noOffers: Readonly<Record<string, object>> = {
  model_unavailable: { alternatives: [] },
  quote_expired: nothing,
  price_changed: nothing,
};

/** What the user asked for at first: a new quote may be dearer than the old one. */
async function askedFor(db: Database, refused: Refused): Promise<RentalRequest | undefined> {
  const { userId, request, quoteId, apiKeyId, onlyOf } = refused;
  if (request || quoteId === undefined) return request;
  const row = await findQuote(db, userId, quoteId as QuoteId, onlyOf);
  return row && { ...row.request, userId, ...(apiKeyId !== undefined && { apiKeyId }) };
}

/** Secrets are wiped with the quote that they came with: another one must bring them anew. */
async function quoteOrAlternatives(
  deps: ApiDeps,
  request: RentalRequest,
  tried: readonly ListingId[],
): Promise<Offer> {
  if ((request.software?.secretsId ?? null) !== null) return nothing;
  try {
    return { quote: await quote(deps, { request, secrets: null }, tried) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { quote: null, alternatives: error.details?.['alternatives'] ?? [] };
  }
}
