import type { LiveStates } from '../../adapters/postgres/events/live-states.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import { isFinal } from '../../domain/rentals/rental.js';
import { messages, presentLiveBalance, presentLiveMeter } from './messages.js';

/** What one user is to be told of their balance and meters. */
export interface StateNews {
  /** What has changed since the last time; '' when nothing has. */
  readonly changed: string;
  /** All of it, for a stream that knows nothing yet. */
  readonly whole: string;
}

/** What one user was told last, so that only what has changed is told again. */
export class ToldStates {
  #balance: string | undefined;
  readonly #meters = new Map<RentalId, string>();

  /** The rentals that were not over when the user was told last. */
  metered(): Iterable<RentalId> {
    return this.#meters.keys();
  }

  /** Takes the newest states of this user, and tells what is to be said of them. */
  take({ readAt, balances, meters }: LiveStates): StateNews {
    let changed = '';
    let whole = '';
    for (const balance of balances) {
      const message = messages.balance(JSON.stringify(presentLiveBalance(balance, readAt)));
      const facts = JSON.stringify(balance);
      if (facts !== this.#balance) changed += message;
      this.#balance = facts;
      whole += message;
    }
    for (const meter of meters) {
      const message = messages.meter(JSON.stringify(presentLiveMeter(meter, readAt)));
      const facts = JSON.stringify(meter);
      if (facts !== this.#meters.get(meter.rentalId)) changed += message;
      if (isFinal(meter.status)) {
        this.#meters.delete(meter.rentalId);
      } else {
        this.#meters.set(meter.rentalId, facts);
        whole += message;
      }
    }
    return { changed, whole };
  }
}

/** Divides states by user. */
export function statesByUser({ readAt, balances, meters }: LiveStates): Map<UserId, LiveStates> {
  const byUser = new Map<
    UserId,
    { balances: LiveStates['balances'][number][]; meters: LiveStates['meters'][number][] }
  >();
  const of = (userId: UserId) => {
    const states = byUser.get(userId) ?? { balances: [], meters: [] };
    byUser.set(userId, states);
    return states;
  };
  for (const balance of balances) of(balance.userId).balances.push(balance);
  for (const meter of meters) of(meter.userId).meters.push(meter);
  return new Map([...byUser].map(([userId, states]) => [userId, { readAt, ...states }]));
}
