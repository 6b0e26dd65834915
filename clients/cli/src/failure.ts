import type { ExitKind } from './exit-codes.js';

/** A failure that its reader can act on: what is wrong, and what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** What programs need of it: ids, above all. */
  readonly details: unknown;
  /** The service's code of it; undefined where the failure is this command's own. */
  readonly code: string | undefined;

  /**
   * @param kind decides the exit code
   * @param next the next step, as one or more sentences
   */
  constructor(
    readonly kind: ExitKind,
    message: string,
    readonly next?: string,
    options?: ErrorOptions & { readonly details?: unknown; readonly code?: string },
  ) {
    super(message, options);
    this.details = options?.details;
    this.code = options?.code;
  }
}

/** The next step where only a session may do it, and nobody is there to type a code. */
export const inTerminal = 'Run it in a terminal: it asks for a code that we email you.';

/** A wrong command line, or a wrong value in it. */
export function usageFailure(message: string, next?: string): Failure {
  return new Failure('usage', message, next);
}
