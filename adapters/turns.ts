/** Lets the next one begin. A second call does nothing. */
export type PassTurn = () => void;

interface TurnLimits {
  /** The most of one key that may work at once. */
  readonly atOnce: number;
  /** The most of one key that may wait for their turn. */
  readonly waiting: number;
  /** The longest wait of each, in milliseconds, unless the call sets one. */
  readonly waitMs: number;
  /** Makes the error of a caller that gets no turn. */
  readonly refuse: (reason: string) => Error;
}

interface OfKey {
  atWork: number;
  readonly waiting: (() => void)[];
}

/**
 * Keeps, for each key (a user, an address) in this process, who is at work and who waits, in the order in which they
 * came. A key that nobody uses takes no room.
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
    return this.#passOf(key, ofKey);
  }

  /** Takes a turn that is free at once; undefined where it would have to be waited for. */
  tryTake(key: Key): PassTurn | undefined {
    const ofKey = this.#keys.get(key) ?? { atWork: 0, waiting: [] };
    if (ofKey.atWork >= this.#limits.atOnce) return undefined;
    this.#keys.set(key, ofKey);
    ofKey.atWork += 1;
    return this.#passOf(key, ofKey);
  }

  #passOf(key: Key, ofKey: OfKey): PassTurn {
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

  /** Passes the turn to the longest waiter. */
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
