import { DAY, HOUR, MINUTE } from '../durations.js';

/** How much users may pay in and owe, and how long the payment processor remembers. Durations are milliseconds. */
export const paymentLimits = {
  /** spec: Limits. */
  minTopupCents: 100,
  maxTopupCents: 500_000,

  /**
   * Decision 23, "Guards against loss": manual top-ups that a young account may begin in a day.
   */
  youngAccountMs: 7 * DAY,
  topupsPerDayWhenYoung: 10,

  /**
   * Decision 128, "Trying of cards": ways to try a card that a user, or a public address, may begin in an hour; the
   * declines that end a page; and those of a day after which a user begins no more.
   */
  cardTriesPerHour: 30,
  cardTriesPerHourOfAddress: 90,
  cardTriesWindowMs: HOUR,
  declinesPerPage: 5,
  declinesPerDay: 15,

  /** How long an event may be ahead of what its dispute says. */
  eventAheadMs: DAY,

  /** spec: Limits, Auto-topup. */
  minThresholdCents: 100,
  maxThresholdCents: 100_000,
  minAutoTopupCents: 1_000,
  maxAutoTopupCents: 500_000,
  autoTopupCooldownMs: 5 * MINUTE,
  /** Decision 33, "Removal of a card". */
  autoTopupDefaultCents: 2_000,
  /** The largest daily cap that users may set for themselves. */
  maxDailyCapCents: 5_000_000,

  /** The processor's smallest charge: an invoice below it is written off. */
  minInvoiceCents: 50,
  /** A day of dunning. */
  dayMs: DAY,

  /** The processor forgets a key after a day: a charge that was sent earlier than this is looked up, never repeated. */
  chargeKeyMs: 23 * HOUR,
  /** What was sent is looked for from so long before that on: our clock may have run ahead. */
  lookBackMs: DAY,
  /** Where nobody knows how long ago it was sent. */
  lookFarBackMs: 90 * DAY,
  /** From then on no key is known any more. */
  keyForgottenMs: 26 * HOUR,
  /** A top-up that has neither a page nor a charge is over after this. */
  topupBeginMs: 2 * MINUTE,

  /** The processor's list of events reaches back this far, and each reading starts this long before what was seen. */
  eventsKeptMs: 30 * DAY,
  eventsOverlapMs: 10 * MINUTE,
} as const;
