import { Failure } from '../failure.js';
import type { OutStream, Surroundings } from '../surroundings.js';

/** Why what is printed reaches nobody. */
export interface Gone {
  /** The reader has left on purpose, as `| head` does. */
  readonly isLeft: boolean;
  readonly failure: Failure;
}

/**
 * Whoever reads what a command prints: they may leave early, and a disk may be full. The command then ends as by ctrl-C,
 * so that it says what exists. That nobody reads the notes beside the results ends nothing.
 */
export class Reader {
  readonly surroundings: Surroundings;
  readonly #left = new AbortController();
  readonly #streams: readonly (readonly [stream: OutStream, onError: (error: Error) => void])[];
  #error: Error | undefined;

  constructor(given: Surroundings) {
    const { stdout, stderr } = given;
    this.#streams = [
      [stdout, (error) => this.#onError(error)],
      [stderr, () => undefined],
    ];
    for (const [stream, onError] of this.#streams) stream.on('error', onError);
    this.surroundings = { ...given, signal: AbortSignal.any([given.signal, this.#left.signal]) };
  }

  /** Waits until all was taken that was printed. @throws Failure when it was not */
  async hasAll(): Promise<void> {
    const gone = await this.whyGone();
    if (gone) throw gone.failure;
  }

  /** Why the results reach nobody; undefined while they do. */
  async whyGone(): Promise<Gone | undefined> {
    const { stdout } = this.surroundings;
    const late = await new Promise<Error | null | undefined>((resolve) => {
      if (this.#error) resolve(this.#error);
      else stdout.write('', resolve);
    });
    const error = (this.#error ??= late ?? undefined);
    if (!error) return undefined;
    const code = 'code' in error ? error.code : undefined;
    const why = code === 'EPIPE' ? 'nobody reads it' : code === 'ENOSPC' ? 'the disk is full' : error.message;
    return {
      isLeft: code === 'EPIPE',
      failure: new Failure(
        'fault',
        `The output could not be written: ${why}.`,
        'Send it elsewhere, and try again.',
        { cause: error },
      ),
    };
  }

  end(): void {
    for (const [stream, onError] of this.#streams) stream.off('error', onError);
  }

  #onError(error: Error): void {
    this.#error ??= error;
    this.#left.abort(error);
  }
}
