import type { User } from '../user.js';
import { changeLimits } from './changing.js';
import { topUp } from './paying.js';
import { rent, stopOne } from './renting.js';

/** Does several things at once, against each other. */
export async function race(user: User): Promise<void> {
  await Promise.all(
    [rent, rent, topUp, stopOne, stopOne, changeLimits, changeLimits].map((act) => act(user)),
  );
}
