import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../user.js';
import { noteRental, type Wish } from './renting.js';

/** Pays in, while nothing is disturbed. @throws Error when there is no page */
export async function paySurely(user: User, amountCents: number): Promise<void> {
  const answer = await user.askKeyed('checkout', '/v1/billing/checkout', { amountCents });
  const url = answer?.body['checkoutUrl'];
  if (typeof url !== 'string') throw new Error('nothing can be paid in calm');
  user.parts.world.processor.payPage(url, false);
  await sleep(60_000);
}

/** Rents while nothing is disturbed. @returns the rental's id @throws Error when it is refused */
export async function rentSurely(user: User, wish: Wish): Promise<string> {
  const answer = await user.askKeyed('create', '/v1/rentals', wish);
  const id = answer?.body['id'];
  if (typeof id !== 'string')
    throw new Error(`nothing can be rented in calm: ${JSON.stringify(answer?.body)}`);
  noteRental(user, answer, { wish, acceptedCents: undefined });
  await sleep(60_000);
  return id;
}
