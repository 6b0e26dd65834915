import type { QuoteId, RentalId, TopupId } from '../../../domain/ids.js';
import type { TopupRequest } from '../../../domain/payments/topup.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { wordsOf } from '../../../domain/rentals/words.js';
import type { Database } from '../database.js';
import type { RentalRequestRow, TopupRequestRow } from '../rows/tables.js';

/**
 * Commits what a rental's opening asks for, before its workflow starts (decision 88, "Rows before workflows"). The
 * first request under an id stands: a repetition changes nothing.
 * @param answerBefore by the database's clock: nothing is opened after it (decision 4, "Promise of a 503")
 * @param quoteId the quote that says what is asked for (decision 104, "Quotes and alternatives")
 */
export async function insertRentalRequest(
  db: Database,
  id: RentalId,
  request: RentalRequest,
  answerBefore: Date,
  quoteId: QuoteId | null = null,
): Promise<void> {
  await db('rental_requests')
    .insert({
      id,
      user_id: request.userId,
      family_id: request.familyId,
      gpu_count: request.gpuCount,
      template_id: request.templateId,
      region: request.region,
      ...wordsOf(request),
      ssh_key_ids: [...request.sshKeyIds],
      auto_stop_after_ms: request.autoStopAfterMs,
      max_spend_cents: request.maxSpendCents,
      max_price_per_hour_cents: request.maxPricePerHourCents,
      ssh_public_keys: request.sshPublicKeys ? [...request.sshPublicKeys] : null,
      software: request.software ?? null,
      idle_guard: request.idleGuard ?? null,
      telemetry: request.telemetry ?? false,
      api_key_id: request.apiKeyId ?? null,
      quote_id: quoteId,
      answer_before: answerBefore,
    })
    .onConflict('id')
    .ignore();
}

/** The deadline of a request that is refused before anything can be opened for it. */
const NEVER = new Date(0);

/**
 * Gives up a request that can't be had, unless it was committed while it could. One row decides between the two: an
 * earlier process may be about to commit it, and then opens nothing.
 * @returns false when it stands, and its workflow answers it
 */
export async function giveUpRentalRequest(
  db: Database,
  id: RentalId,
  request: RentalRequest,
): Promise<boolean> {
  await insertRentalRequest(db, id, request, NEVER);
  const standing = await findRentalRequest(db, id);
  return standing?.answerBefore.getTime() === NEVER.getTime();
}

/** Commits what a top-up's opening asks for. */
export async function insertTopupRequest(
  db: Database,
  id: TopupId,
  { userId, amountCents, apiKeyId }: TopupRequest,
  answerBefore: Date,
): Promise<void> {
  await db('topup_requests')
    .insert({
      id,
      user_id: userId,
      amount_cents: amountCents,
      api_key_id: apiKeyId ?? null,
      answer_before: answerBefore,
    })
    .onConflict('id')
    .ignore();
}

/** A rental's opening as it was committed. */
export interface CommittedRequest extends RentalRequest {
  readonly answerBefore: Date;
  readonly quoteId: QuoteId | null;
  readonly requestedAt: Date;
}

/** Finds what a rental's opening asks for; undefined when there is no such request of ours. */
export async function findRentalRequest(db: Database, id: RentalId): Promise<CommittedRequest | undefined> {
  const row: RentalRequestRow | undefined = await db('rental_requests').where({ id }).first();
  return (
    row && {
      userId: row.user_id,
      familyId: row.family_id,
      gpuCount: row.gpu_count,
      templateId: row.template_id,
      region: row.region,
      ...wordsOf(row),
      sshKeyIds: row.ssh_key_ids,
      autoStopAfterMs: row.auto_stop_after_ms,
      maxSpendCents: row.max_spend_cents,
      maxPricePerHourCents: row.max_price_per_hour_cents,
      ...(row.ssh_public_keys !== null && { sshPublicKeys: row.ssh_public_keys }),
      ...(row.software !== null && { software: row.software }),
      ...(row.idle_guard !== null && { idleGuard: row.idle_guard }),
      ...(row.telemetry && { telemetry: true }),
      ...(row.api_key_id !== null && { apiKeyId: row.api_key_id }),
      answerBefore: row.answer_before,
      quoteId: row.quote_id,
      requestedAt: row.requested_at,
    }
  );
}

export async function findTopupRequest(db: Database, id: TopupId): Promise<TopupRequestRow | undefined> {
  return db('topup_requests').where({ id }).first();
}

/** Returns the earlier of two deadlines: the row's, and that of its messenger, which may be anybody. */
export function earlierOf(row: Date, said: string): string {
  const saidMs = new Date(said).getTime();
  return Number.isNaN(saidMs) || saidMs > row.getTime() ? row.toISOString() : said;
}
