/** What a run could have reached of one kind of thing, and what it did reach. */
export interface Part {
  readonly all: readonly string[];
  readonly seen: readonly string[];
}

/** Parts by their names, in words. */
export type Reach = Readonly<Record<string, Part>>;

/** Adds up what several runs reached. */
export class Reached {
  readonly #parts = new Map<string, { all: Set<string>; seen: Map<string, number> }>();

  add(reach: Reach): void {
    for (const [name, { all, seen }] of Object.entries(reach)) {
      const part = this.#parts.get(name) ?? { all: new Set(), seen: new Map<string, number>() };
      this.#parts.set(name, part);
      for (const one of [...all, ...seen]) part.all.add(one);
      for (const one of new Set(seen)) part.seen.set(one, (part.seen.get(one) ?? 0) + 1);
    }
  }

  /**
   * Says in lines how much of each part was reached, and what never was.
   * @param isWhole lists what was reached as well, each with the number of runs that reached it
   */
  lines({ isWhole }: { isWhole: boolean }): string[] {
    return [...this.#parts].flatMap(([name, { all, seen }]) => {
      const never = [...all].filter((one) => !seen.has(one)).sort();
      const listed = isWhole ? [...seen].sort(byName).map(([one, runs]) => `  ${one} (${runs} runs)`) : [];
      return [
        `${name}: ${seen.size} of ${all.size}`,
        ...listed,
        ...never.map((one) => `  never reached: ${one}`),
      ];
    });
  }
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}
