import { DAY, MINUTE, SECOND } from '../durations.js';

/** How users sign in, how long they stay signed in, and which SSH keys they may have. Durations are milliseconds. */
export const accountLimits = {
  /** Decision 8, "One-time codes": one-time codes. */
  codeValidMs: 10 * MINUTE,
  codeMaxTries: 5,
  codeRequestEveryMs: 30 * SECOND,
  codeRequestsPerHour: 5,
  codeRequestsPerDay: 20,

  /** Decision 84, "Shares of codes": how long a cookie makes a browser known in which somebody has signed in. */
  browserKnownMs: 180 * DAY,

  /** Decision 9, "Session cookies": sessions. */
  sessionMs: 30 * DAY,
  sessionTouchMs: MINUTE,

  /** Decision 110, "Sessions and fresh proof": how long a sign-in is fresh, and mailed codes that make it so. */
  freshProofMs: 15 * MINUTE,
  proofCodesPerHour: 5,
  proofCodesPerDay: 10,
  proofCodesOfUserPerDay: 20,

  /**
   * Decision 178, "Sign-in by passkey": how many a user may have, how long a person may take to show one, and how many sign-ins by
   * one may be begun from a client address in an hour. A sign-in page begins one each time it is opened.
   */
  maxPasskeys: 20,
  passkeyChallengeMs: 5 * MINUTE,
  passkeySignInsPerClientPerHour: 600,

  /** Decision 11, "Sign-in elsewhere": how long a person may take at an identity provider. */
  oauthStateValidMs: 10 * MINUTE,

  /**
   * Decision 14, "SSH keys": SSH keys of a user. By default each opening puts all of them into a machine's first start.
   */
  maxSshKeys: 100,
  minRsaBits: 2_048,
  maxRsaBits: 8_192,

  /**
   * Decision 108, "API keys": how many live keys a user may have, how long they hold, how often their last use is
   * written, and from how many ranges of addresses one may be used.
   */
  maxApiKeys: 50,
  apiKeyMs: 90 * DAY,
  apiKeyMaxMs: 366 * DAY,
  apiKeyTouchMs: MINUTE,
  apiKeyMaxCidrs: 20,
  /** How long one that has ended is still shown. */
  apiKeyKeptMs: 90 * DAY,

  /** How long tries that did not sign in are still shown. */
  failedSignInsKeptMs: 90 * DAY,

  /**
   * Decision 184, "One archive": how many exports of an account may begin in an hour, and for how long one counts as under way
   * after its process was last heard of.
   */
  exportsPerHour: 6,
  exportLeaseMs: 30 * SECOND,
} as const;
