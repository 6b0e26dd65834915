import type { ApiKeyId, ListingId, QuoteId, RentalId, UserId } from '../../../domain/ids.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { Database, Transaction } from '../database.js';
import type { QuoteRow } from '../rows/tables.js';

export interface NewQuote {
  readonly id: QuoteId;
  readonly request: RentalRequest;
  readonly listing: { readonly id: ListingId; readonly price_per_hour_cents: number };
}

/**
 * Keeps a quote for its minute, by the database's clock. It may be taken by another session of its user, or by an
 * API key of theirs that has no cap.
 * @returns when it expires
 */
export async function insertQuote(db: Database, { id, request, listing }: NewQuote): Promise<Date> {
  const asked = { ...request, userId: undefined, apiKeyId: undefined };
  const { rows } = await db.raw<{ rows: { expires_at: Date }[] }>(
    `insert into quotes (id, user_id, api_key_id, request, listing_id, price_per_hour_cents, created_at, expires_at)
     select :id, :userId, :apiKeyId, :request, :listingId, :price, c.at, c.at + :quoteMs * interval '1 millisecond'
       from (select clock_ms() as at) c
     returning expires_at`,
    {
      id,
      userId: request.userId,
      apiKeyId: request.apiKeyId ?? null,
      request: JSON.stringify(asked),
      listingId: listing.id,
      price: listing.price_per_hour_cents,
      quoteMs: rentalLimits.quoteMs,
    },
  );
  if (!rows[0]) throw new Error(`the quote ${id} was not kept`);
  return rows[0].expires_at;
}

/**
 * Finds a user's quote; undefined for another user's, as for none (decision 5, "Foreign ids").
 * @param onlyOf a key: then those that others of the user asked for are none either
 */
export async function findQuote(
  db: Database | Transaction,
  userId: UserId,
  id: QuoteId,
  onlyOf?: ApiKeyId,
): Promise<QuoteRow | undefined> {
  const own = { id, user_id: userId, ...(onlyOf !== undefined && { api_key_id: onlyOf }) };
  return db('quotes').where(own).first();
}

/**
 * Notes the rental that was opened by a quote, under the wallet's lock, in the transaction that makes it.
 * @throws when another one was: the schema refuses it too
 */
export async function takeQuote(trx: Transaction, id: QuoteId, rentalId: RentalId): Promise<void> {
  const taken = await trx('quotes').where({ id }).whereNull('rental_id').update({ rental_id: rentalId });
  if (taken !== 1) throw new Error(`the quote ${id} could not be taken for ${rentalId}`);
}

/** A request that names a quote. */
export interface Asking {
  readonly quoteId: QuoteId;
  readonly rentalId: RentalId;
}

/** Tells whether another request that names the quote may still open its rental. */
export async function isAskedForTwice(db: Database, { quoteId, rentalId }: Asking): Promise<boolean> {
  return isThere(
    db,
    `select 1 from rental_requests
      where quote_id = :quoteId and id <> :rentalId and answer_before >= (select clock_ms())`,
    { quoteId, rentalId },
  );
}

/**
 * Tells whether another request that names the quote has bought its machine, or may have, and can still take it. Its
 * process has died if this is asked under the wallet's lock: then its next try adopts the machine.
 */
export async function isBoughtFor(trx: Transaction, { quoteId, rentalId }: Asking): Promise<boolean> {
  return isThere(
    trx,
    `select 1 from rental_requests r
       join allocation_attempts a on a.rental_id = r.id and a.state = 'open'
      where r.quote_id = :quoteId and r.id <> :rentalId and r.answer_before >= (select clock_ms())`,
    { quoteId, rentalId },
  );
}

async function isThere(
  db: Database | Transaction,
  select: string,
  bindings: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { there: boolean }[] }>(
    `select exists (${select}) as there`,
    bindings,
  );
  return rows[0]?.there === true;
}
