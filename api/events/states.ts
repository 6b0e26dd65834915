import type { LiveMeter, LiveStates } from '../../adapters/postgres/events/live-states.js';
import type { ApiKeyId, RentalId, UserId } from '../../domain/ids.js';
import { isFinal } from '../../domain/rentals/rental.js';
import { messages, presentLiveBalance, presentLiveMeter } from './messages.js';

/** What one user is to be told of their balance and meters. */
export interface StateNews {
  /** What has changed since the last time; '' when nothing has. @param onlyOf a key: of its own rentals alone */
  changed(onlyOf?: ApiKeyId): string;
  /** All of it, for a stream that knows nothing yet. @param onlyOf a key: of its own rentals alone */
  whole(onlyOf?: ApiKeyId): string;
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
    const changed = new Texts();
    const whole = new Texts();
    for (const balance of balances) {
      const message = messages.balance(JSON.stringify(presentLiveBalance(balance, readAt)));
      const facts = JSON.stringify(balance);
      if (facts !== this.#balance) changed.add(message);
      this.#balance = facts;
      whole.add(message);
    }
    for (const meter of meters) {
      const message = messages.meter(JSON.stringify(presentLiveMeter(meter, readAt)));
      const facts = JSON.stringify(meter);
      if (facts !== this.#meters.get(meter.rentalId)) changed.add(message, meter);
      if (isFinal(meter.status)) {
        this.#meters.delete(meter.rentalId);
      } else {
        this.#meters.set(meter.rentalId, facts);
        whole.add(message, meter);
      }
    }
    return { changed: (onlyOf) => changed.of(onlyOf), whole: (onlyOf) => whole.of(onlyOf) };
  }
}

/** Messages about a wallet and its rentals, put together for each kind of listener once. */
class Texts {
  readonly #parts: { readonly text: string; readonly apiKeyId: ApiKeyId | null | undefined }[] = [];
  readonly #joined = new Map<ApiKeyId | undefined, string>();

  /** @param rental whose meter it is; undefined for what every listener of the user hears */
  add(text: string, rental?: Pick<LiveMeter, 'apiKeyId'>): void {
    this.#parts.push({ text, apiKeyId: rental?.apiKeyId });
  }

  of(onlyOf: ApiKeyId | undefined): string {
    const known = this.#joined.get(onlyOf);
    if (known !== undefined) return known;
    const parts = this.#parts.filter(
      ({ apiKeyId }) => onlyOf === undefined || apiKeyId === undefined || apiKeyId === onlyOf,
    );
    const text = parts.map((part) => part.text).join('');
    this.#joined.set(onlyOf, text);
    return text;
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
