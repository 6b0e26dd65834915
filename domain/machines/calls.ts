import { SECOND } from '../durations.js';

/** What a token of a machine is for (decision 172, "The listener of machines"). */
export type MachinePurpose = 'bundle' | 'report' | 'use';

/** Below here are the paths that a proxy before the listener has to open. */
export const machinePaths = '/v1/machine/';

/** Where the listener says that it hears machines. */
export const listenerReadyPath = `${machinePaths}ready`;

/** Where machines tell how their GPUs are, and how much they are used. */
export const machineReportsPath = `${machinePaths}reports`;
export const machineUsePath = `${machinePaths}use`;

/** Where a machine that tells its use asks to be kept alive. */
export const machineKeepAlivePath = `${machineUsePath}/keep-alive`;

/** How the answer to a machine that is kept alive begins: by it the machine's command knows it from a proxy's. */
export const keptAliveWords = 'This machine does not stop';

/** The limits of what machines may ask for and tell, beside those that the database holds for each token. */
export const machineCallLimits = {
  /** Calls of one address in a minute: many machines of one host share one. */
  perMinuteOfAddress: 3_000,
  /** Calls in a minute of a token that did something before: its report alone may come ten times. */
  perMinuteOfToken: 60,
  /** How many such tokens a process remembers, each with its address. */
  knownTokens: 20_000,
  bodyMaxBytes: 4_096,
  /** How long the answer whether the listener is ready holds for the next who ask. */
  readyKeptMs: SECOND,
  /** In milliseconds: to the end of a request's headers, to its last byte, and of a connection without traffic. */
  timeouts: { headersMs: 5 * SECOND, requestMs: 10 * SECOND, idleMs: 60 * SECOND },
} as const;
