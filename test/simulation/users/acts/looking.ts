import type { User } from '../user.js';

/** Looks at the balance and at the rentals, which are nobody else's. */
export async function look(user: User): Promise<void> {
  await user.ask('balance', 'GET', '/v1/billing/balance');
  const answer = await user.ask('rentals', 'GET', '/v1/rentals');
  const { told } = user.parts;
  for (const { id } of (answer?.body['rentals'] ?? []) as { id: string }[]) {
    const owner = told.rentals.get(id)?.email;
    if (owner !== undefined && owner !== user.email)
      told.strange.push(`${user.email} sees ${id} of ${owner}`);
  }
}
