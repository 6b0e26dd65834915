import type { TopupId, UserId } from '../../domain/ids.js';
import { judgeAutoTopup, type AutoTopupFacts } from '../../domain/payments/auto-topup.js';
import { disableAutoTopup } from '../../adapters/postgres/payments/auto-topup-settings.js';
import { isHeld } from '../../adapters/postgres/payments/charge-marks.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { findChargeableCard } from '../../adapters/postgres/payments/saved-cards.js';
import type { AutoTopupRow, TopupRow } from '../../adapters/postgres/rows/tables.js';
import { cooldownLeftMs, somethingRuns } from '../../adapters/postgres/payments/topup-level.js';
import { lockWalletOfUser, type LockedWallet } from '../ledger/wallets.js';
import { moneyTransaction } from '../ledger/transaction.js';

/** The next step of an auto-topup after a look at it. */
export type AutoTopupStep =
  /** Its charge has left, or leaves now: ask the processor. */
  | { readonly kind: 'attempt'; readonly topup: TopupRow }
  /** Nothing is charged before this instant. */
  | { readonly kind: 'cooling'; readonly untilMs: number; readonly why: string }
  | { readonly kind: 'quiet'; readonly why: string };

export interface AutoTopupRules {
  /** From the beginning of an attempt until the next (spec: Limits, auto-topup cooldown), in milliseconds. */
  readonly cooldownMs: number;
}

/**
 * Begins an attempt when the level asks for one (decision 34, "Trigger of auto-topup"). It does so under the wallet's
 * lock, where level, cooldown, cap and card are all of one moment. If an attempt is open, that attempt is the answer.
 */
export async function beginAutoTopup(
  db: Database,
  userId: UserId,
  topupId: TopupId,
  rules: AutoTopupRules,
): Promise<AutoTopupStep> {
  return moneyTransaction(db, userId, async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    const open = await trx('topups')
      .where({ user_id: userId, source: 'auto_topup', closed_at: null })
      .first();
    if (open) return { kind: 'attempt', topup: open };
    const step = await decide(trx, wallet, rules);
    if (step.kind !== 'due') {
      // Rentals wait for an attempt, and there is none.
      await acknowledge(trx, wallet.id);
      return step;
    }
    return { kind: 'attempt', topup: await insertAttempt(trx, wallet, topupId, step, rules) };
  });
}

interface Due {
  readonly kind: 'due';
  readonly amountCents: number;
  readonly pmId: string;
}

async function decide(
  trx: Transaction,
  wallet: LockedWallet,
  rules: AutoTopupRules,
): Promise<Due | Exclude<AutoTopupStep, { kind: 'attempt' }>> {
  const settings = await trx('auto_topups').where({ wallet_id: wallet.id }).forUpdate().first();
  if (!settings) return { kind: 'quiet', why: 'auto-topup is off' };
  const verdict = judgeAutoTopup(settings, await readFacts(trx, wallet, settings));
  if (verdict.kind === 'due') return chargeOf(trx, wallet, settings);
  if (verdict.kind !== 'held') return verdict;
  await postpone(trx, wallet.id, rules.cooldownMs);
  return { kind: 'cooling', untilMs: rules.cooldownMs, why: verdict.why };
}

/** Returns the card to charge. Without a card that may be charged, auto-topup goes off. */
async function chargeOf(
  trx: Transaction,
  wallet: LockedWallet,
  settings: AutoTopupRow,
): Promise<Due | Extract<AutoTopupStep, { kind: 'quiet' }>> {
  const card = await findChargeableCard(trx, wallet.userId);
  if (!card) {
    await disableAutoTopup(trx, wallet.userId, 'card_expired', 'card_expired');
    return { kind: 'quiet', why: 'the saved card can’t be charged any more' };
  }
  if (await isHeld(trx, wallet.userId)) {
    await disableAutoTopup(trx, wallet.userId, 'charges_held', 'charges_held');
    return { kind: 'quiet', why: 'a payment was denied: an operator must lift the mark first' };
  }
  return { kind: 'due', amountCents: settings.topup_amount_cents, pmId: card.pm_id };
}

async function readFacts(
  trx: Transaction,
  { id: walletId, userId, availableCents }: LockedWallet,
  settings: AutoTopupRow,
): Promise<AutoTopupFacts> {
  const { rows } = await trx.raw<{ rows: Omit<AutoTopupFacts, 'availableCents'>[] }>(
    `select ${cooldownLeftMs('cast(:nextAttemptAt as timestamptz)')} as "coolingMs",
            ${somethingRuns(':walletId')} as "isRunning",
            exists (select 1 from brakes where kind = 'charges') as "isPaused",
            block_of(:userId) is not null as "isBlocked",
            (select coalesce(sum(credited_cents), 0)::bigint from topups
              where user_id = :userId and source = 'auto_topup' and created_at > clock_ms() - interval '1 day')
              as "chargedCents",
            (select auto_topup_daily_cap_cents from users where id = :userId) as "accountCapCents"`,
    { nextAttemptAt: settings.next_attempt_at, walletId, userId },
  );
  if (!rows[0]) throw new Error('the state of an auto-topup has no row');
  return { ...rows[0], availableCents };
}

/** Inserts the attempt. Its charge counts as sent from here on: every later look asks the processor under its key. */
async function insertAttempt(
  trx: Transaction,
  wallet: LockedWallet,
  topupId: TopupId,
  { amountCents, pmId }: Due,
  { cooldownMs }: AutoTopupRules,
): Promise<TopupRow> {
  await postpone(trx, wallet.id, cooldownMs);
  // The intent makes the rentals wait for it (decision 26, "End of the money").
  await trx.raw(`insert into intents (kind, wallet_id) values ('auto_topup', ?) on conflict do nothing`, [
    wallet.id,
  ]);
  const [topup] = await trx('topups')
    .insert({
      id: topupId,
      user_id: wallet.userId,
      wallet_id: wallet.id,
      amount_cents: amountCents,
      status: 'processing',
      source: 'auto_topup',
      pm_id: pmId,
      charge_sent_at: trx.raw('clock_ms()'),
    })
    .returning('*');
  if (!topup) throw new Error(`the attempt ${topupId} was not kept`);
  return topup;
}

async function postpone(trx: Transaction, walletId: number, forMs: number): Promise<void> {
  await trx('auto_topups')
    .where({ wallet_id: walletId })
    .update({ next_attempt_at: trx.raw(`clock_ms() + ? * interval '1 millisecond'`, [forMs]) });
}

/** Closes the intent when no attempt is open any more: rentals whose money is over end. */
export async function acknowledge(trx: Transaction, walletId: number): Promise<void> {
  await trx('intents')
    .where({ kind: 'auto_topup', wallet_id: walletId })
    .whereNull('acknowledged_at')
    .update({ acknowledged_at: trx.raw('clock_ms()') });
}
