/** How many endpoints of each user this process serves now. A user without any takes no room. */
export class UserTurns {
  readonly #atWork = new Map<string, number>();
  readonly #atOnce: number;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** @returns what ends the turn; undefined when the user has as many as one may have: nobody waits here */
  take(userId: string): (() => void) | undefined {
    const atWork = this.#atWork.get(userId) ?? 0;
    if (atWork >= this.#atOnce) return undefined;
    this.#atWork.set(userId, atWork + 1);
    return () => {
      const left = (this.#atWork.get(userId) ?? 1) - 1;
      if (left === 0) this.#atWork.delete(userId);
      else this.#atWork.set(userId, left);
    };
  }
}
