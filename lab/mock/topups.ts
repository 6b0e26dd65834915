import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { unnamedSeller } from '../../domain/payments/receipt.js';
import type { TopupSource } from '../../domain/payments/topup.js';
import type { Account } from './account.js';
import { saveCard } from './cards.js';
import { credit } from './credit.js';
import { voidOffers } from './invoices.js';
import { newProcessorId, paymentOf } from './processor-ids.js';
import { isSaid } from './receipts.js';
import { refusalByCode } from './refuse.js';
import type { World } from './world.js';

/**
 * Begins a top-up: charges the saved card, or opens a payment page (decision 32, "Checkout and credit").
 * @param onPage an API key asks, which never charges a card (decision 108, "API keys")
 * @throws Refusal card_declined
 */
export function beginTopup(world: World, account: Account, amountCents: number, onPage = false): TopupRow {
  if (!account.card || onPage) return openPage(world, account, amountCents);
  const topup = chargeCard(world, account, amountCents, 'saved_card');
  if (topup.status === 'failed') {
    throw refusalByCode('card_declined', { declineCode: topup.decline_code, topupId: topup.id });
  }
  return topup;
}

/** Charges the saved card. @returns the top-up: `succeeded` and credited, or `failed` */
export function chargeCard(
  world: World,
  account: Account,
  amountCents: number,
  source: Exclude<TopupSource, 'checkout'>,
): TopupRow {
  const topup = newTopup(world, account, amountCents, source);
  topup.pm_id = account.card?.row.pm_id ?? null;
  topup.charge_sent_at = topup.created_at;
  if (account.card?.declines === false) {
    succeed(world, account, topup);
    return topup;
  }
  topup.status = 'failed';
  topup.error = 'The bank declined the card. Use another card.';
  topup.decline_code = 'generic_decline';
  topup.closed_at = topup.created_at;
  world.events.tell(account.user.id, 'topup.failed', topup.id, {
    ...{ amountCents, source, declineCode: topup.decline_code, message: topup.error },
  });
  return topup;
}

function openPage(world: World, account: Account, amountCents: number): TopupRow {
  const topup = newTopup(world, account, amountCents, 'checkout');
  const sessionId = newProcessorId('cs');
  topup.session_id = sessionId;
  topup.checkout_url = `${world.url}/mock/checkout/${sessionId}`;
  topup.session_expires_at = new Date(topup.created_at.getTime() + paymentLimits.dayMs);
  world.pages.set(sessionId, { account, topup });
  return topup;
}

/** Pays a payment page: the wallet is credited once, however often this is called. */
export function payPage(world: World, sessionId: string, savesCard: boolean): boolean {
  const page = world.pages.get(sessionId);
  if (!page) return false;
  const { account, topup } = page;
  if (topup.credited_at !== null) return true;
  succeed(world, account, topup);
  if (savesCard) saveCard(world, account, false);
  return true;
}

/** Closes the pages of an account that nobody has paid by an instant, in milliseconds since 1970; Infinity: all. */
export function expirePages(world: World, { user, topups }: Account, untilMs: number): void {
  for (const topup of topups) {
    if (topup.closed_at !== null || Number(topup.session_expires_at) > untilMs) continue;
    topup.status = 'expired';
    topup.closed_at = world.now();
    world.pages.delete(topup.session_id ?? '');
    world.events.tell(user.id, 'topup.expired', topup.id, { amountCents: topup.amount_cents });
  }
}

function succeed(world: World, account: Account, topup: TopupRow): void {
  const chargeId = newProcessorId('ch');
  const type = topup.source === 'auto_topup' ? 'auto_topup' : 'processor_topup';
  credit(world, account, { type, availableCents: topup.amount_cents, processorChargeId: chargeId });
  topup.status = 'succeeded';
  topup.charge_id = chargeId;
  topup.payment_id = paymentOf(chargeId);
  topup.credited_cents = topup.amount_cents;
  topup.credited_at = world.now();
  topup.sold_by = unnamedSeller;
  topup.billed_to = isSaid(account.billingDetails) ? { ...account.billingDetails } : null;
  topup.card_brand = account.card?.row.brand ?? 'visa';
  topup.card_last4 = account.card?.row.last4 ?? '4242';
  topup.closed_at = topup.credited_at;
  topup.receipt_url = `${world.url}/mock/receipts/${chargeId}`;
  const { amount_cents: amountCents, source } = topup;
  world.events.tell(account.user.id, 'topup.succeeded', topup.id, {
    ...{ amountCents, creditedCents: amountCents, source },
  });
  if (source === 'auto_topup') {
    world.events.tell(account.user.id, 'auto_topup.succeeded', topup.id, { creditedCents: amountCents });
  }
  voidOffers(world, account, topup.amount_cents);
}

function newTopup(world: World, account: Account, amountCents: number, source: TopupSource): TopupRow {
  const topup: TopupRow = {
    id: newId('top'),
    user_id: account.user.id,
    wallet_id: account.wallet.id,
    amount_cents: amountCents,
    status: 'requires_payment',
    source,
    created_at: world.now(),
    session_id: null,
    checkout_url: null,
    session_expires_at: null,
    payment_id: null,
    charge_id: null,
    receipt_url: null,
    credited_cents: null,
    credited_at: null,
    error: null,
    closed_at: null,
    pm_id: null,
    charge_sent_at: null,
    page_asked_at: null,
    decline_code: null,
    billed_to: null,
    sold_by: null,
    card_brand: null,
    card_last4: null,
  };
  account.topups.push(topup);
  return topup;
}
