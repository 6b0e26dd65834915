import { pipeline } from 'node:stream/promises';
import type { OutStream, Surroundings } from '../surroundings.js';
import { Failure, usageFailure } from '../failure.js';
import { createPaint, printable, printableJson, type Paint } from './colour.js';
import type { Select } from './jq.js';
import { facts, table, type Column } from './table.js';
import { wrap } from './text.js';

const usualWidth = 80;
const widest = 120;

/**
 * What the command says. Results go to the standard output, as text or, with --json, as JSON; what only accompanies
 * them (progress, questions, hints) goes to the standard error, so that a pipe gets results alone. Under --json a
 * program reads that as well: it is told of a failure alone. Nothing that steers a terminal is written as it came.
 */
export class Out {
  readonly paint: Paint;
  readonly paintNote: Paint;
  /** Chooses what of a result is printed, by the expression of --jq; undefined: all of it, as JSON or as lines. */
  select: Select | undefined;
  readonly #remarks = new Set<string>();

  constructor(
    private readonly surroundings: Pick<Surroundings, 'stdout' | 'stderr' | 'env'>,
    readonly isJson: boolean,
  ) {
    this.paint = createPaint(surroundings.stdout, surroundings.env);
    this.paintNote = createPaint(surroundings.stderr, surroundings.env);
  }

  /** The columns of the terminal that shows results; a pipe has as many as it takes. */
  get width(): number {
    return widthOfStream(this.surroundings.stdout) ?? Infinity;
  }

  get noteWidth(): number {
    return widthOfStream(this.surroundings.stderr) ?? usualWidth;
  }

  /** Prints a result as JSON under --json, else as the lines that it is given. */
  result(value: unknown, lines: () => readonly string[]): void {
    if (this.isJson) this.json(value);
    else this.print(...lines());
  }

  json(value: unknown): void {
    this.#json(value, 2);
  }

  /** Prints one value of a sequence, as a line of its own. */
  jsonLine(value: unknown): void {
    this.#json(value);
  }

  #json(value: unknown, space?: number): void {
    if (this.select) this.#write(lined(this.select(value)));
    else this.surroundings.stdout.write(lined([printableJson(value, space)]));
  }

  print(...lines: readonly string[]): void {
    this.surroundings.stdout.write(printable(lined(lines)));
  }

  /**
   * Writes a file as it comes, as it is, but for a terminal: it may be larger than the memory.
   * @throws Failure under --jq, and for a file that ends early
   */
  async pour(open: () => Promise<ReadableStream<Uint8Array>>, signal: AbortSignal): Promise<void> {
    this.#refuseSelecting();
    const { stdout } = this.surroundings;
    const source = await open();
    const decoder = new TextDecoder();
    const toTerminal = (piece?: Uint8Array): string =>
      printable(decoder.decode(piece, { stream: piece !== undefined }));
    const written = async function* (pieces: AsyncIterable<Uint8Array>) {
      try {
        for await (const piece of pieces) yield stdout.isTTY === true ? toTerminal(piece) : piece;
        if (stdout.isTTY === true) yield toTerminal();
      } catch (error) {
        if (signal.aborted) throw error;
        const told = 'The download ended early: what came of it is not whole.';
        throw new Failure('network', told, 'Run the command again.', { cause: error });
      }
    };
    await pipeline(source, written, stdout, { signal, end: false });
  }

  #refuseSelecting(): void {
    if (this.select) throw usageFailure('This result is no JSON, so --jq can choose nothing of it.');
  }

  /** Writes a text as it is, but for a terminal. */
  #write(text: string): void {
    const { stdout } = this.surroundings;
    stdout.write(stdout.isTTY === true ? printable(text) : text);
  }

  /** Prints sentences of a result, broken to the terminal's width. */
  say(text: string): void {
    this.print(...wrap(text, this.width));
  }

  /** Says something beside the results. */
  note(text: string): void {
    this.#note(wrap(text, this.noteWidth));
  }

  /** Says once what the reader of a result should know of it; under --json at the end, if all went well. */
  remark(text: string): void {
    if (this.#remarks.has(text)) return;
    this.#remarks.add(text);
    if (!this.isJson) this.note(text);
  }

  /** Says what was kept for the end. */
  endRemarks(): void {
    if (this.isJson) for (const text of this.#remarks) this.surroundings.stderr.write(`${printable(text)}\n`);
  }

  #note(lines: readonly string[]): void {
    const { stderr } = this.surroundings;
    if (this.isJson && stderr.isTTY !== true) return;
    stderr.write(printable(lined(lines)));
  }

  /** Facts beside the results, such as what a question is about. */
  noteFacts(pairs: readonly (readonly [string, string | null | undefined])[]): void {
    this.#note(facts(pairs, this.noteWidth, (name) => this.paintNote('dim', name)));
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
    return table(columns, rows, this.width, (title) => this.paint('dim', title));
  }

  facts(pairs: readonly (readonly [string, string | null | undefined])[]): string[] {
    return facts(pairs, this.width, (name) => this.paint('dim', name));
  }

  /** Sentences among a result's lines, broken to the width of the terminal. */
  text(text: string): string[] {
    return wrap(text, Math.min(this.width, widest));
  }
}

function lined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function widthOfStream(stream: OutStream): number | undefined {
  if (stream.isTTY !== true) return undefined;
  return stream.columns === undefined || stream.columns === 0 ? usualWidth : stream.columns;
}
