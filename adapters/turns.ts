/** Lets the next one begin. Called again, it does nothing. */
export type PassTurn = () => void;

interface TurnLimits {
  /** How many of one key may be at work at once. */
  readonly atOnce: number;
  /** How many of one key may wait for their turn. */
  readonly waiting: number;
  /** How long each may wait, in milliseconds, unless it says so itself. */
  readonly waitMs: number;
  /** What whoever gets no turn is told. */
  readonly refuse: (reason: string) => Error;
}

interface OfKey {
  atWork: number;
  readonly waiting: (() => void)[];
}

/**
 * Who is at work for each key (a user, an address) in this process, and who waits for it, in the order in which they
 * came. A key that nobody works for takes no room.
 */
export class Turns<Key> {
  readonly #keys = new Map<Key, OfKey>();
  readonly #limits: TurnLimits;

  constructor(turnLimits: TurnLimits) {
    this.#limits = turnLimits;
  }

  /**
   * Resolves when the turn has come; it lasts until it is passed on.
   * @throws what `refuse` makes, when too many wait already or the turn did not come in time: nothing was begun
   */
  async take(key: Key, waitMs: number = this.#limits.waitMs): Promise<PassTurn> {
    const ofKey = this.#keys.get(key) ?? { atWork: 0, waiting: [] };
    this.#keys.set(key, ofKey);
    if (ofKey.atWork < this.#limits.atOnce) ofKey.atWork += 1;
    else await this.#wait(ofKey, waitMs);
    let passed = false;
    return () => {
      if (passed) return;
      passed = true;
      this.#pass(key, ofKey);
    };
  }

  async #wait({ waiting }: OfKey, waitMs: number): Promise<void> {
    const { refuse, waiting: waitingMax } = this.#limits;
    if (waiting.length >= waitingMax) throw refuse(`${waiting.length} others wait already`);
    await new Promise<void>((resolve, reject) => {
      const come = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(come), 1);
        reject(refuse(`no turn came within ${waitMs} ms`));
      }, waitMs);
      waiting.push(come);
    });
  }

  /** Whoever waits longest has the turn from here on. */
  #pass(key: Key, ofKey: OfKey): void {
    const next = ofKey.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    ofKey.atWork -= 1;
    if (ofKey.atWork === 0) this.#keys.delete(key);
  }
}
