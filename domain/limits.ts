/** The service's limits and defaults, from spec.md "Limits" and DECISIONS.md. Durations are milliseconds. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const limits = {
  /** spec: Limits. */
  gpuCounts: [1, 2, 4, 8] as const,
  nameMaxChars: 64,
  minTopupCents: 100,
  maxTopupCents: 500_000,
  pageSizeDefault: 50,
  pageSizeMax: 200,
  autoStopMaxHours: 720,

  /** Decision 8: one-time codes. */
  codeValidMs: 10 * MINUTE,
  codeMaxTries: 5,
  codeRequestEveryMs: 30 * SECOND,
  codeRequestsPerHour: 5,
  codeRequestsPerDay: 20,

  /** Decision 84: for how long a browser in which somebody has signed in is known by a cookie. */
  browserKnownMs: 180 * DAY,

  /** Decision 9: sessions. */
  sessionMs: 30 * DAY,
  sessionTouchMs: MINUTE,

  /** Decision 14: SSH keys of a user. Each opening puts all of them into a machine's first start, unless told. */
  maxSshKeys: 100,
  minRsaBits: 2_048,
  maxRsaBits: 8_192,

  /** Decision 11: how long a person may take at an identity provider. */
  oauthStateValidMs: 10 * MINUTE,
  /**
   * Decisions 12 and 58: requests in a minute. Reads of one session and of all sessions of a user, changes of a user,
   * and all of one client address without a session.
   */
  requestWindowMs: MINUTE,
  readsPerMinute: 600,
  readsPerMinuteOfUser: 3_000,
  changesPerMinute: 60,
  strangersPerMinute: 300,

  /**
   * Decision 97: requests of one caller that are under way at once in one process, reads and changes apart; how many
   * others wait for their turn, how many of an address to be looked up, which takes a millisecond, and for how long.
   */
  requestsAtOnce: 4,
  requestsWaiting: 64,
  lookUpsWaiting: 1_000,
  requestTurnWaitMs: 5 * SECOND,

  /** Decision 83: what a request may hold before it is looked at, and how many faults of it an answer tells. */
  bodyMaxBytes: 16 * 1024,
  bodyMaxDepth: 8,
  bodyMaxFields: 64,
  bodyMaxItems: 200,
  queryMaxChars: 4_096,
  queryMaxParameters: 32,
  faultsTold: 20,
  faultMaxChars: 200,
  /** The processor's events are larger; the signature is looked at before they are read. */
  eventMaxBytes: 512 * 1024,

  /** Decision 6: idempotency keys. */
  idempotencyKeyMaxChars: 255,
  idempotencyKeptMs: DAY,
  idempotencyWaitMs: 20 * SECOND,

  /** Decision 4: the last moment at which an opening may still commit, and how long the API waits beyond it. */
  answerWithinMs: 20 * SECOND,
  answerGraceMs: 2 * SECOND,

  /** Decisions 19-22: opening a rental. */
  openTries: 5,
  openBudgetMs: 15 * SECOND,
  /** What must be left of it for another try, and of the caller's time for the rest of the opening. */
  openTryMinMs: SECOND,
  openFinishMs: 1_500,
  openLockWaitMs: 5 * SECOND,
  openMaxDearerPercent: 10,
  unknownLookMs: 3 * SECOND,
  unknownFindMs: MINUTE,
  attemptOpenMs: 5 * MINUTE,
  maxLiveRentals: 20,
  /** Decision 83: machines of a user that are not billed, in an hour, after which the next create waits. */
  freeMachinesPerHour: 10,

  /** The dead man's switch at the upstreams: how long beyond the wallet's money, and how far ahead at most. */
  deadManMarginMs: HOUR,
  deadManMaxMs: 30 * DAY,
  deadManRenewEveryMs: 5 * MINUTE,

  /**
   * The circuit breaker of an upstream: so many failures in a row take its offers out of the catalog, for a time that
   * grows with each further one.
   */
  breakAfterFailures: 5,
  breakBaseMs: 15 * SECOND,
  breakMaxMs: 5 * MINUTE,
  /** An upstream that asks to be left alone for longer is asked again after this: its machines must be watched. */
  rateLimitMaxMs: 15 * MINUTE,

  /** Decision 13: a listing older than this is not live. */
  listingFreshMs: 2 * MINUTE,
  catalogSyncMs: 30 * SECOND,

  /** spec: Provisioning poll interval; decision 27: refund window of a machine that was lost. */
  pollMs: 2 * SECOND,
  /**
   * What a rental's workflow says about how long a machine may take until its SSH daemon answers: where it says just
   * this, the attempt's own deadline holds (decision 76). The longest of those.
   */
  provisionDeadlineMs: 10 * MINUTE,
  provisionDeadlineMaxMs: 90 * MINUTE,
  refundWindowMs: MINUTE,
  /** How long an SSH daemon may take to accept, to send its identification line (RFC 4253 4.2), to show its key. */
  sshConnectMs: 1_500,
  sshIdentMs: 1_500,
  sshHostKeyMs: 1_500,
  fullRefundsPerDay: 5,
  /** At most so many daemons are asked at once by one worker: more only makes each wait. */
  probesAtOnce: 256,
  /** A running machine is asked this often, and called silent after so many times in a row. */
  reachEveryMs: 30 * SECOND,
  silentProbes: 3,
  /** While nothing waits at an upstream and nothing is young, its lists are read every so many polls. */
  idlePolls: 5,
  /** However small an upstream's quotas, it is read once in this time: what nobody looks at may be lost unseen. */
  slowestReadMs: MINUTE,
  /** How often the balance of our account at an upstream is read. */
  balanceEveryMs: 5 * MINUTE,
  /** More than this share of an upstream's machines vanishing at once is rather a fault of its list. */
  vanishedShare: 0.2,
  /** A pod that was told to end and is still there after this is told to operators. */
  slowEndMs: 15 * MINUTE,

  /** Decision 26: how late a tick may be and still end a rental at the instant the money ended. */
  tickLateMs: 5 * SECOND,
  topupWaitMs: 30 * SECOND,
  /** Decision 78: how long a stop may take from its instant to its commit; a tick in between knows nothing of it. */
  stopCommitMs: MINUTE,
  /** The processor's smallest charge: an invoice below it is written off. */
  minInvoiceCents: 50,

  /** A user is warned when the wallet lasts for less than this many minutes of what runs. */
  lowBalanceMinutes: 60,

  /** Decision 29: a wallet that can't be metered for this long loses its machines. */
  blockedForMs: 10 * MINUTE,

  /** Design: metering. */
  tickEveryMs: SECOND,
  meterRunMs: 15 * MINUTE,
  /** A wallet whose metering somebody held up is left alone for so long: the others' ticks go on (decision 73). */
  heldUpRestMs: 10 * SECOND,
  /** How many of one user may wait for their turn at the wallet in one process, for how long, and when it is asked anew. */
  userTurnsWaiting: 8,
  userTurnWaitMs: 5 * SECOND,
  busyWalletRetryMs: SECOND,
  /** A running rental settles itself at least this often, whatever the tick engine does (second belt). */
  beltMs: HOUR,
  /** With a large fleet the rounds come further apart, so that no more than this many fire in a second. */
  beltRoundsPerSecond: 3,

  /** spec: Limits, Auto-topup. */
  minThresholdCents: 100,
  maxThresholdCents: 100_000,
  minAutoTopupCents: 1_000,
  maxAutoTopupCents: 500_000,
  autoTopupCooldownMs: 5 * MINUTE,
  /** Decision 33. */
  autoTopupDefaultCents: 2_000,
  /** The largest daily cap that a user may set for himself. */
  maxDailyCapCents: 5_000_000,

  /** Decision 23: manual top-ups that a young account may begin in a day. */
  youngAccountMs: 7 * DAY,
  topupsPerDayWhenYoung: 10,
  /** What one operator may move alone, in cents; above it a second one approves (decision 87). */
  orderSingleLimitCents: 50_000,

  /** The processor forgets a key after a day: a charge that was sent longer ago is looked up, never repeated. */
  chargeKeyMs: 23 * HOUR,
  /** From then on no key is known any more. */
  keyForgottenMs: 26 * HOUR,
  /** A top-up that was begun and never got as far as a page or a charge is over after this. */
  topupBeginMs: 2 * MINUTE,

  /** The processor's list of events reaches back so far, and is read again from so long before what was seen. */
  eventsKeptMs: 30 * DAY,
  eventsOverlapMs: 10 * MINUTE,

  /** A day of dunning. */
  dayMs: DAY,

  /**
   * Decision 62: how far back a run of reconcile looks, what counts as still in flight, how long a difference must
   * last within the run, and how many pages and single questions one source may cost in a run.
   */
  reconcileWindowMs: 2 * HOUR,
  reconcileOverlapMs: 10 * MINUTE,
  reconcileGraceMs: 2 * MINUTE,
  reconcileConfirmMs: 15 * SECOND,
  /** How often a source is asked before it counts as not compared. */
  reconcileTries: 3,
  reconcilePages: 20_000,
  reconcileLookups: 1_000,
  /** So many items of a pass of reconcile, or of a restore, may fail; more are rather the fault of what all of them need. */
  failedItemsOfPass: 20,
  /** From then on it is told that a source was not compared in full. */
  reconcileFullOverdueMs: 2 * DAY,

  /** Decision 69: how an item is tried again that fails, after how many tries it is set aside, and how often then. */
  retryBaseMs: 10 * SECOND,
  retryMaxMs: 15 * MINUTE,
  triesUntilSetAside: 12,
  setAsideRetryMs: HOUR,
  /**
   * Decision 95: the longest pause of what fails because its peer answers nobody. Each try may take a signal, of which a
   * run has `looksPerDay`.
   */
  unansweredRetryMaxMs: 2 * MINUTE,
  /** From then on any answer of the peer shows that it is there, also where nobody else makes the call that fails. */
  aloneAtPeerMs: 6 * HOUR,
  /** A look of a workflow that fails so often at once is tried again later, as all that fails. */
  quickTries: 5,
  /**
   * The server takes 10,000 signals per run and then refuses all. A run is told once until it has looked, again after
   * this when it did not, and so often in a day (auto-topup's cooldown alone takes 288).
   */
  lookUnhandledMs: MINUTE,
  looksPerDay: 1_000,

  /** A processor event that was stored but not handled is delivered again when it is older than this. */
  eventRedeliverMs: 10 * SECOND,
  /** How often the other duties of the upkeep come round. */
  reviveEveryMs: 30 * SECOND,
  sweepEveryMs: MINUTE,
  housekeepingEveryMs: MINUTE,
} as const;
