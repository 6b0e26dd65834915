/**
 * What a terminal shows after some output: enough of a terminal for what `gpu` and its prompts write. Colours are left
 * out.
 */
export class TerminalScreen {
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  #rest = '';

  constructor(private readonly columns: number) {}

  write(text: string): void {
    const all = this.#rest + text;
    const sequence = new RegExp(
      String.raw`\u001b(?:\[[0-9;?]*[A-Za-z]|\][^\u0007]*\u0007|[()][A-Z0-9]|[=>78M])`,
      'y',
    );
    let at = 0;
    while (at < all.length) {
      if (all[at] === '\u001b') {
        sequence.lastIndex = at;
        const match = sequence.exec(all);
        // A sequence may come in two pieces.
        if (!match) break;
        this.#obey(match[0]);
        at += match[0].length;
      } else {
        const sign = String.fromCodePoint(all.codePointAt(at)!);
        this.#put(sign);
        at += sign.length;
      }
    }
    this.#rest = all.slice(at);
  }

  /** The lines, without spaces at their ends. */
  get lines(): string[] {
    // A cursor that was moved ahead leaves holes.
    return this.#lines.map((line) =>
      Array.from(line, (sign: string | undefined) => sign ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  get text(): string {
    return this.lines.join('\n');
  }

  #put(sign: string): void {
    if (sign === '\r') this.#column = 0;
    else if (sign === '\n') this.#goTo(this.#row + 1);
    else if (sign === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (sign >= ' ') {
      if (this.#column >= this.columns) {
        this.#goTo(this.#row + 1);
        this.#column = 0;
      }
      this.#lines[this.#row]![this.#column] = sign;
      this.#column += 1;
    }
  }

  #goTo(row: number, column = this.#column): void {
    this.#column = column;
    this.#row = Math.max(0, row);
    while (this.#lines.length <= this.#row) this.#lines.push([]);
  }

  #obey(sequence: string): void {
    const [, digits = '', letter = ''] = /^.\[(\d*)(?:;\d*)*([A-Za-z])$/.exec(sequence) ?? [];
    const count = Math.max(1, Number(digits));
    const moves: Readonly<Record<string, () => void>> = {
      A: () => this.#goTo(this.#row - count),
      B: () => this.#goTo(this.#row + count),
      C: () => (this.#column += count),
      D: () => (this.#column = Math.max(0, this.#column - count)),
      E: () => this.#goTo(this.#row + count, 0),
      F: () => this.#goTo(this.#row - count, 0),
      G: () => (this.#column = count - 1),
      J: () => this.#clearDown(),
      K: () => this.#clearLine(digits),
    };
    moves[letter]?.();
  }

  #clearLine(how: string): void {
    const line = this.#lines[this.#row]!;
    if (how === '2') line.length = 0;
    else if (how === '1') line.fill(' ', 0, this.#column + 1);
    else line.length = Math.min(line.length, this.#column);
  }

  #clearDown(): void {
    this.#clearLine('');
    this.#lines.length = this.#row + 1;
  }
}
