import type { CardRemovedReason } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/ids.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import type { Card } from '../../processor/processor.js';
import { tieAccount } from '../accounts/account-ties.js';
import { insertAuditEvent, type AuditEvent } from '../accounts/audit-events.js';
import { isOlderSql } from '../clock.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import { disableAutoTopup } from './auto-topup-settings.js';
import { noteForUser } from '../notices/user-notices.js';
import type { SavedCardRow } from '../rows/tables.js';

/**
 * The processor's clock has whole seconds. A removal that is later by up to this much, by our clock, may still be meant
 * for the card before.
 */
const clockSkewMs = 5_000;

/** Finds the card that a user has saved; undefined when there is none. */
export async function findSavedCard(
  db: Database | Transaction,
  userId: UserId,
): Promise<SavedCardRow | undefined> {
  return db('saved_cards').where({ user_id: userId }).whereNull('removed_at').first();
}

/** Finds the card that a user has saved, unless it has expired: cards are good until their month is over. */
export async function findChargeableCard(
  db: Database | Transaction,
  userId: UserId,
): Promise<SavedCardRow | undefined> {
  return db('saved_cards')
    .where({ user_id: userId })
    .whereNull('removed_at')
    .whereRaw(`${expiresAt} > clock_ms()`)
    .first();
}

const expiresAt = `(make_timestamptz(exp_year, exp_month, 1, 0, 0, 0, 'UTC') + interval '1 month')`;

export async function findCard(db: Database, pmId: string): Promise<SavedCardRow | undefined> {
  return db('saved_cards').where({ pm_id: pmId }).first();
}

export interface SaveCardInput {
  readonly userId: UserId;
  readonly card: Card;
  /** When its owner agreed, by the processor's clock. */
  readonly setUpAt: Date;
}

/**
 * Saves a card as the user's one card, once. The processor may tell of several cards in any order: the card that its
 * owner agreed to last stays. A removed card is never brought back.
 * @returns the ids of cards that must now be detached, this one among them if a later one is there already
 */
export async function saveCard(db: Database, { userId, card, setUpAt }: SaveCardInput): Promise<string[]> {
  return db.transaction(async (trx) => {
    await trx.raw('select id from users where id = ? for no key update', [userId]);
    const known = await trx('saved_cards').where({ pm_id: card.cardId }).first();
    if (known) return known.removed_at !== null && known.detached_at === null ? [known.pm_id] : [];
    const isLate = await hasLater(trx, userId, setUpAt);
    const replaced = isLate ? [] : await replaceCurrent(trx, userId);
    await trx('saved_cards').insert({
      pm_id: card.cardId,
      user_id: userId,
      ...detailsOf(card),
      set_up_at: setUpAt,
      ...(isLate ? { removed_at: trx.raw('clock_ms()'), removed_why: 'replaced' } : {}),
    });
    if (card.fingerprint !== null) await tieAccount(trx, userId, 'card', card.fingerprint);
    if (isLate) return [card.cardId];
    const { brand, last4 } = card;
    await recordEvent(trx, { type: 'card.saved', userId, entityId: card.cardId, data: { brand, last4 } });
    await insertAuditEvent(trx, { userId, kind: 'card_saved', entityId: card.cardId });
    await noteForUser(trx, {
      userId,
      kind: 'card_saved',
      cause: { kind: 'card_saved', cardId: card.cardId },
      facts: { brand, last4 },
    });
    return replaced;
  });
}

async function hasLater(trx: Transaction, userId: UserId, setUpAt: Date): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { later: boolean }[] }>(
    `select exists (select 1 from saved_cards
       where user_id = :userId
         and (set_up_at > :setUpAt::timestamptz
              or removed_why = 'user' and removed_at > :setUpAt::timestamptz + :skewMs * interval '1 millisecond')) as later`,
    { userId, setUpAt, skewMs: clockSkewMs },
  );
  return rows[0]?.later === true;
}

async function replaceCurrent(trx: Transaction, userId: UserId): Promise<string[]> {
  const rows = await trx('saved_cards')
    .where({ user_id: userId })
    .whereNull('removed_at')
    .update({ removed_at: trx.raw('clock_ms()'), removed_why: 'replaced' })
    .returning('pm_id');
  const ids = rows.map((row) => row.pm_id);
  for (const pmId of ids) await tellRemoved(trx, userId, pmId, 'replaced');
  return ids;
}

/** Tells whether a card was taken away by its user, by removing it or by saving another one. */
export async function isTakenAway(db: Database | Transaction, pmId: string): Promise<boolean> {
  const card = await db('saved_cards').where({ pm_id: pmId }).first('removed_why');
  return card?.removed_why === 'user' || card?.removed_why === 'replaced';
}

/** Tells that a card is the user's saved card no more, in the transaction that removes it. */
async function tellRemoved(
  trx: Transaction,
  userId: UserId,
  pmId: string,
  reason: CardRemovedReason,
): Promise<void> {
  await recordEvent(trx, { type: 'card.removed', userId, entityId: pmId, data: { reason } });
}

/** Writes down the processor's present data of a card: its bank may have renewed it. */
export async function refreshCard(db: Database, card: Card): Promise<void> {
  await db('saved_cards').where({ pm_id: card.cardId }).update(detailsOf(card));
}

function detailsOf(
  card: Card,
): Pick<SavedCardRow, 'brand' | 'last4' | 'exp_month' | 'exp_year' | 'fingerprint'> {
  const { brand, last4, fingerprint } = card;
  return { brand, last4, fingerprint, exp_month: card.expMonth, exp_year: card.expYear };
}

/**
 * Removes a user's card at their wish, and switches auto-topup off with it. The processor still has the card: its
 * workflow detaches it there (decision 33, "Removal of a card").
 * @param clientAddress the address of the request, for the audit trail
 * @returns the card's id; undefined when there was none
 */
export async function removeCardOfUser(
  db: Database,
  userId: UserId,
  clientAddress: AuditEvent['clientAddress'],
): Promise<string | undefined> {
  return db.transaction(async (trx) => {
    const [removed] = await trx('saved_cards')
      .where({ user_id: userId })
      .whereNull('removed_at')
      .update({ removed_at: trx.raw('clock_ms()'), removed_why: 'user' })
      .returning('pm_id');
    if (!removed) return undefined;
    await tellRemoved(trx, userId, removed.pm_id, 'user');
    await disableAutoTopup(trx, userId, 'card_removed');
    await insertAuditEvent(trx, { userId, kind: 'card_removed', entityId: removed.pm_id, clientAddress });
    return removed.pm_id;
  });
}

/**
 * Marks a card that the processor has no longer. If it was the saved card, it is none any more, and auto-topup is
 * switched off.
 */
export async function markDetached(db: Database, pmId: string): Promise<void> {
  await db.transaction(async (trx) => {
    const [detached] = await trx('saved_cards')
      .where({ pm_id: pmId })
      .whereNull('detached_at')
      .update({
        detached_at: trx.raw('clock_ms()'),
        removed_at: trx.raw('coalesce(removed_at, clock_ms())'),
        removed_why: trx.raw(`coalesce(removed_why, 'detached')`),
      })
      .returning(['user_id', 'removed_why']);
    if (detached?.removed_why !== 'detached') return;
    await tellRemoved(trx, detached.user_id, pmId, 'detached');
    await disableAutoTopup(trx, detached.user_id, 'card_removed', 'card_gone');
  });
}

/** Lists cards that were removed here a moment ago or longer, and not yet at the processor. */
export async function listUndetachedCards(db: Database): Promise<string[]> {
  const rows = await db('saved_cards')
    .whereNotNull('removed_at')
    .whereNull('detached_at')
    .whereRaw(isOlderSql('removed_at', operationLimits.reviveAfterMs))
    .select('pm_id');
  return rows.map((row) => row.pm_id);
}
