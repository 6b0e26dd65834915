import { setTimeout as sleep } from 'node:timers/promises';
import { willing } from '../world/bank.js';
import { honest } from '../world/upstream.js';
import { saveCard } from './acts/paying.js';
import { stop } from './acts/renting.js';
import { paySurely, rentSurely } from './acts/surely.js';
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

/** Does the same in each run: is charged by their card, which its bank then declines, and gets no machine. */
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
  for (const upstream of upstreams) upstream.faults = honest;
}
