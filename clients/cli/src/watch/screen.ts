import { printable } from '../output/colour.js';
import type { OutStream } from '../surroundings.js';

const up = (lines: number): string => (lines > 0 ? `\u001b[${lines}A` : '');
const clearDown = '\r\u001b[J';
const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';

/** A block of lines at the end of the terminal that is drawn again and again in its place. */
export class Screen {
  #drawn = 0;
  #isOpen = false;

  constructor(private readonly stream: OutStream & { readonly rows?: number }) {}

  get rows(): number {
    return this.stream.rows ?? 24;
  }

  /** Draws the lines in place of the former ones. No line may be wider than the terminal. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, Math.max(1, this.rows - 1));
    this.stream.write(
      `${this.#isOpen ? '' : hideCursor}${up(this.#drawn)}${clearDown}${printable(shown.map((line) => `${line}\n`).join(''))}`,
    );
    this.#isOpen = true;
    this.#drawn = shown.length;
  }

  /** Leaves the last drawing where it is, and gives the cursor back. */
  end(): void {
    if (this.#isOpen) this.stream.write(showCursor);
    this.#isOpen = false;
    this.#drawn = 0;
  }
}
