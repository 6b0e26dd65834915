import type { ExitKind } from './exit-codes.js';

/** A failure that its reader can act on: what is wrong, and what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** What programs need of it: ids, above all. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /**
   * @param kind decides the exit code
   * @param next the next step, as one or more sentences
   */
  constructor(
    readonly kind: ExitKind,
    message: string,
    readonly next?: string,
    options?: ErrorOptions & { readonly details?: Readonly<Record<string, unknown>> },
  ) {
    super(message, options);
    this.details = options?.details;
  }
}

/** A wrong command line, or a wrong value in it. */
export function usageFailure(message: string, next?: string): Failure {
  return new Failure('usage', message, next);
}
