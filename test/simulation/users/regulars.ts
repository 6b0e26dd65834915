import { setTimeout as sleep } from 'node:timers/promises';
import { willing } from '../world/bank.js';
import { honest } from '../world/upstream.js';
import { closeAlone } from './acts/closing.js';
import { saveCard } from './acts/paying.js';
import { families, stop } from './acts/renting.js';
import { paySurely, rentSurely } from './acts/surely.js';
import { LOOK_EVERY_MS } from './operators.js';
import type { User } from './user.js';

const MINUTE_MS = 60_000;
const small = { familyId: 'rtx-4090', gpuCount: 1 };
/** Costs 70 to 79 cents an hour. */
const large = { familyId: 'h100-80gb', gpuCount: 1 };

/** Does the same in each run, while nothing is disturbed: reaches each end of a rental that money and limits bring. */
export async function spend(user: User): Promise<void> {
  await user.signIn();
  await paySurely(user, 100);
  await user.ask(
    'create',
    'POST',
    '/v1/rentals',
    { ...large, gpuCount: 8 },
    { 'idempotency-key': 'too-dear' },
  );
  await rentSurely(user, { ...small, maxSpendCents: 2 });
  await rentSurely(user, { ...small, autoStopAfterHours: 0.1 });
  await sleep(15 * MINUTE_MS);
  // More than 92 cents are left, for 70 to 79 minutes.
  await rentSurely(user, large);
}

/** Rents by quotes of what is sold out meanwhile, until the other upstream is dearer, and not of the same price. */
async function meetOtherPrice(user: User): Promise<void> {
  const { upstreams } = user.parts.world;
  for (const upstream of upstreams) upstream.faults = { ...honest, noCapacity: 1_000 };
  for (const wish of families.flatMap((familyId) => [1, 2, 8].map((gpuCount) => ({ familyId, gpuCount })))) {
    const quoted = await user.ask('quote', 'POST', '/v1/quotes', wish);
    const { quoteId } = quoted?.body ?? {};
    const answer = await user.askKeyed('create by quote', '/v1/rentals', { quoteId });
    if (answer?.body['error'] === 'price_changed') break;
  }
  for (const upstream of upstreams) upstream.faults = honest;
}

/** Does the same in each run: is charged by their card, which its bank then declines, gets no machine, and meets another price. */
export async function payByCardAlone(user: User): Promise<void> {
  const { processor, upstreams } = user.parts.world;
  await user.signIn();
  await paySurely(user, 100);
  await saveCard(user);
  await sleep(MINUTE_MS);
  const body = { enabled: true, thresholdCents: 3_000, topupAmountCents: 1_000 };
  await user.ask('auto-topup', 'PUT', '/v1/billing/auto-topup', body);
  const charged = await rentSurely(user, small);
  await sleep(MINUTE_MS);
  processor.bank.faults = { ...willing, declines: 1_000 };
  // The next attempt waits for five minutes.
  await sleep(8 * MINUTE_MS);
  processor.bank.faults = willing;
  await stop(user, charged);
  await sleep(10 * MINUTE_MS);
  for (const upstream of upstreams) upstream.faults = { ...honest, neverBoots: 1_000 };
  await rentSurely(user, small);
  await sleep(MINUTE_MS);
  await meetOtherPrice(user);
}

/**
 * Does the same in each run: leaves, and our account at the processor does not know the newer one of two payments. Once
 * operators have decided about it, a bank sends back what was given of the older one.
 */
export async function leaveUnknown(user: User): Promise<void> {
  const { told, world } = user.parts;
  const { truth, returns } = world.processor;
  await user.signIn();
  await paySurely(user, 300);
  await paySurely(user, 500);
  const userId = told.users.get(user.email);
  const own = truth.payments.filter(({ payerId }) => payerId === userId).map(({ paymentId }) => paymentId);
  returns.unknown.set(own.at(-1) ?? '', 'for good');
  await closeAlone(user);
  const decisions = () => told.decisions.filter((decision) => decision.userId === userId).length;
  while (decisions() === 0) await sleep(MINUTE_MS);
  await sleep(5 * MINUTE_MS);
  returns.bounce(own[0] ?? '');
  await sleep(2 * LOOK_EVERY_MS);
  if (decisions() > 1) told.strange.push('a payment that was decided has a share of what came later');
}
