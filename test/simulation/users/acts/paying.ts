import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../user.js';

/** Opens a hosted page, and pays it most of the time. */
export async function topUp(user: User): Promise<void> {
  const { chance, world } = user.parts;
  if (user.isSpendthrift && user.hasPaid) return;
  const amountCents = user.isSpendthrift ? 500 : chance.pick([500, 1_000, 2_500]);
  const answer = await user.askKeyed('checkout', '/v1/billing/checkout', { amountCents });
  const url = answer?.body['checkoutUrl'];
  if (typeof url !== 'string' || chance.perMille(100)) return;
  await sleep(5_000 + chance.below(120_000));
  user.hasPaid = true;
  world.processor.payPage(url, chance.perMille(300));
}

/** Saves a card without paying anything. */
export async function saveCard(user: User): Promise<void> {
  const answer = await user.ask('setup', 'POST', '/v1/billing/setup-intent');
  const secret = answer?.body['clientSecret'];
  if (typeof secret !== 'string') return;
  await sleep(20_000);
  user.parts.world.processor.confirmSetup(secret);
  user.hasCard = true;
}

/** Removes their saved card. */
export async function removeCard(user: User): Promise<void> {
  const { told, kernel } = user.parts;
  if (!user.hasCard) return;
  const cardId = (await user.ask('card', 'GET', '/v1/billing/card'))?.body['pmId'];
  const answer = await user.ask('remove card', 'DELETE', '/v1/billing/card');
  user.hasCard = false;
  if (answer?.status === 200 && typeof cardId === 'string')
    told.removedCards.push({ cardId, answeredMs: kernel.nowMs });
}

/** Switches auto-topup on, or off, once there is a card. */
export async function switchAutoTopup(user: User): Promise<void> {
  const { chance } = user.parts;
  if (user.isSpendthrift) return;
  if (!user.hasCard) return saveCard(user);
  const body = chance.perMille(800)
    ? {
        enabled: true,
        // The high one is more than what is available at once, as soon as anything runs.
        thresholdCents: chance.perMille(500) ? 100 + chance.below(300) : 3_000,
        topupAmountCents: 1_000 + chance.below(1_000),
      }
    : { enabled: false };
  user.isToppedUp ||= body.enabled;
  await user.ask('auto-topup', 'PUT', '/v1/billing/auto-topup', body);
}

/** Leaves all paying to a card: saves one, and switches auto-topup on. */
export async function payByCard(user: User): Promise<void> {
  await saveCard(user);
  await sleep(60_000);
  await switchAutoTopup(user);
}

/** Pays the first of their open invoices on the processor's page. */
export async function payInvoice(user: User): Promise<void> {
  const { world, chance } = user.parts;
  const answer = await user.ask('invoices', 'GET', '/v1/billing/invoices?status=open');
  const [first] = (answer?.body['data'] ?? []) as { id: string }[];
  if (first === undefined) return;
  await sleep(1_000 + chance.below(60_000));
  world.processor.payInvoice(first.id);
}
