import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';

/** The lines of a run: equal for equal seeds. They hold no ids, ports or real times. */
export class Trace {
  lines = 0;
  /** The newest lines, for a report of a failure. */
  readonly last: string[] = [];
  readonly #hash: Hash = createHash('sha256');
  readonly #file: number | undefined;
  #buffer: string[] = [];

  /** @param path where the lines are written; undefined: nowhere */
  constructor(
    path: string | undefined,
    private readonly startMs: number,
  ) {
    this.#file = path === undefined ? undefined : openSync(path, 'w');
  }

  line(atMs: number, text: string): void {
    const line = `${atMs - this.startMs} ${text}\n`;
    this.lines += 1;
    this.#hash.update(line);
    this.last.push(line);
    if (this.last.length > 400) this.last.splice(0, 200);
    if (this.#file === undefined) return;
    this.#buffer.push(line);
    if (this.#buffer.length > 1_000) this.#write();
  }

  /** Ends the trace. @returns its hash, in hexadecimal */
  end(): string {
    this.#write();
    if (this.#file !== undefined) closeSync(this.#file);
    return this.#hash.digest('hex');
  }

  #write(): void {
    if (this.#file !== undefined) writeSync(this.#file, this.#buffer.join(''));
    this.#buffer = [];
  }
}
