import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';

/** A body that is being read, of a client without a session or key. */
interface Reading {
  readonly bytes: number;
  readonly address: string;
  readonly sinceMs: number;
  readonly refuse: (refusal: Refusal) => void;
}

/** How many bytes of such bodies may be under way. */
export interface BodyBudgetLimits {
  readonly ofProcess: number;
  /** null: addresses are not told apart, as behind a proxy. */
  readonly ofAddress: number | null;
}

/**
 * Bounds the bodies of strangers that one process reads at once by their bytes, since anybody may send them (decision
 * 130, "Work for strangers"). Whoever is refused sends again, as the payment processor does. Where one has arrived for
 * longer than honest ones need, it makes room for the next.
 */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  readonly #now: () => number;
  /** In the order in which they began. */
  readonly #readings = new Set<Reading>();

  constructor(budget: BodyBudgetLimits, now: () => number = () => performance.now()) {
    this.#limits = budget;
    this.#now = now;
  }

  /**
   * Reads a body.
   * @param bytes as many as it may have
   * @throws Refusal temporarily_unavailable when there is no room, or it has lost its place to another one
   */
  async read<T>(address: string, bytes: number, read: () => Promise<T>): Promise<T> {
    const { ofProcess, ofAddress } = this.#limits;
    if (ofAddress !== null) this.#makeRoom(bytes, ofAddress, (reading) => reading.address === address);
    this.#makeRoom(bytes, ofProcess, () => true);
    return new Promise<T>((resolve, reject) => {
      const reading = { bytes, address, sinceMs: this.#now(), refuse: reject };
      this.#readings.add(reading);
      const end = (): boolean => this.#readings.delete(reading);
      void read().then(resolve, reject).finally(end);
    });
  }

  #makeRoom(bytes: number, limit: number, counts: (reading: Reading) => boolean): void {
    const counted = [...this.#readings].filter(counts);
    let free = limit - counted.reduce((sum, reading) => sum + reading.bytes, 0);
    for (const reading of counted) {
      if (free >= bytes || this.#now() - reading.sinceMs < requestLimits.strangersBodyMs) break;
      reading.refuse(tooMany());
      this.#readings.delete(reading);
      free += reading.bytes;
    }
    if (free < bytes) throw tooMany();
  }
}

function tooMany(): Refusal {
  return new Refusal(
    'temporarily_unavailable',
    'Too many requests are being sent without a session right now. Send it again in a few seconds.',
  );
}
