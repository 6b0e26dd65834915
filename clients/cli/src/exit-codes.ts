/** The exit codes by kind of failure; docs/cli.md explains them, and a test compares the two. */
export const exitCodes = {
  done: 0,
  /** Something that should not happen: a fault of the command itself, or of this machine. */
  fault: 1,
  /** The command line or a value in it is wrong, or a question could not be asked. */
  usage: 2,
  /** Nobody is signed in, or the key is not valid any more. */
  signedOut: 3,
  /** The service knows who asks, and refuses. */
  refused: 4,
  /** Money is missing, a cap is reached, or a card was declined. */
  noMoney: 5,
  /** No such machine is to be had now, or not at this price. */
  notAvailable: 6,
  notFound: 7,
  /** No answer came: no network, no such address, nobody listens. */
  network: 8,
  /** The service answered that it can't now. */
  server: 9,
  /** What was waited for did not come about: a machine that failed, a payment that nobody made. */
  notReached: 10,
  /** The machine shows another host key than the one that the service saw, or the service told an odd address. */
  hostKey: 11,
  /** It was ended after money or a machine was committed, or may have been: what exists is named. */
  committed: 12,
  /** A proof of the ledger does not hold, or contradicts what was kept. */
  disproved: 13,
  /** A proof of the ledger stands under a later root than it should, or a restore replaced entries: it needs a reason. */
  unexplained: 14,
  /** Ctrl-C, or a question that was answered with no. */
  givenUp: 130,
} as const;

export type ExitKind = keyof typeof exitCodes;
