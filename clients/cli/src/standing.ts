import type { Told } from './explain-failure.js';

/** What exists, or may exist, because of this command. Whatever ends the command from then on names it. */
export interface Standing {
  /** The ids of what exists, for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  /** What exists and what it costs, in sentences. */
  readonly message: string;
  /** How to look at it and to end it. */
  readonly next: string;
}

/** Makes of a failure one that names what exists all the same. Ctrl-C was meant, and needs no words of its own. */
export function committed(cause: Told, standing: Standing): Told {
  const { message, next, details } = standing;
  const given = typeof cause.details === 'object' ? cause.details : {};
  return {
    kind: 'committed',
    code: 'committed',
    message: cause.kind === 'givenUp' ? message : `${cause.message}\n${message}`,
    next,
    requestId: cause.requestId,
    support: cause.support,
    details: { ...given, ...details, cause: cause.code },
  };
}
