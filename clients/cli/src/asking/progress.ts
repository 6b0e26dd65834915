import { createSpinner, type Spinner } from 'nanospinner';
import type { Cli } from '../cli.js';
import { cut, plain } from '../output/text.js';

/**
 * Shows what is waited for: a spinner at a terminal, whose text changes, and lines elsewhere, one for each new text. It
 * is silent under --json.
 */
export class Progress {
  readonly #cli: Cli;
  #spinner: Spinner | undefined;
  #told: string | undefined;

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  /** @param more what changes often, such as a time: shown by a spinner alone */
  update(text: string, more = ''): void {
    const { out } = this.#cli;
    if (out.isJson) return;
    if (!this.#spins()) {
      if (text !== this.#told) out.note(text);
      this.#told = text;
      return;
    }
    const line = cut(plain(more === '' ? text : `${text}  ${more}`), out.noteWidth - 3);
    if (this.#spinner === undefined) this.#spinner = this.#start(line);
    else this.#spinner.update(line);
  }

  /** Takes the spinner away. */
  end(): void {
    this.#spinner?.stop();
    this.#spinner?.clear();
    this.#spinner = undefined;
  }

  /** The package draws only where the standard output is a terminal, and nowhere under CI. */
  #spins(): boolean {
    const { stdout, stderr, env } = this.#cli.surroundings;
    return stdout.isTTY === true && stderr.isTTY === true && env['TERM'] !== 'dumb' && !('CI' in env);
  }

  #start(line: string): Spinner {
    const stream = this.#cli.surroundings.stderr as unknown as NodeJS.WriteStream;
    const spinner = createSpinner(line, { stream, color: 'cyan' });
    const before = exitSignals.map((signal) => [signal, new Set(process.listeners(signal))] as const);
    spinner.start();
    // The package would end the process at ctrl-C, before anybody has said what exists by now.
    for (const [signal, known] of before) {
      for (const listener of process.listeners(signal))
        if (!known.has(listener)) process.off(signal, listener);
    }
    return spinner;
  }
}

const exitSignals = ['SIGINT', 'SIGTERM'] as const;
