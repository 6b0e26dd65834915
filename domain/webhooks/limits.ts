import { DAY, HOUR, MINUTE, SECOND } from '../durations.js';

/** Limits of webhooks (decision 102, "Webhooks out"); durations in milliseconds. */
export const webhookLimits = {
  perUser: 10,
  /** Redelivery: how often a user may ask for it, over all of their endpoints, and of how many events at once. */
  redeliveriesPerHour: 20,
  redeliveredAtOnce: 10_000,
  urlMaxChars: 2_048,
  descriptionMaxChars: 200,

  /** A whole exchange: the look-up of the name, the connection, and the answer, of which so much is read. */
  exchangeMs: 10 * SECOND,
  answerBytes: 4_096,
  /** How long the look-up of a name may take. */
  lookUpMs: 3 * SECOND,

  /**
   * One go of an endpoint's activity: so many tries at most, begun within this time. With its last exchange it is shorter
   * than `toldAgainMs`.
   */
  triesPerGo: 100,
  goMs: 30 * SECOND,
  /** Endpoints of one user that a worker process serves at once; the others wait about this long. */
  perUserAtOnce: 3,
  turnAgainMs: SECOND,

  /** From one look for endpoints with something to do to the next. */
  wakeEveryMs: 200,
  /** An endpoint whose workflow was told and has not looked is told again after this. */
  toldAgainMs: MINUTE,
  /** How often a workflow looks whether the brake is released. */
  brakeLookMs: 30 * SECOND,

  /** The tries that hold up later events; then the event goes to its retry line. */
  triesInLine: 5,
  linePauseMs: 5 * SECOND,
  linePauseMaxMs: 10 * MINUTE,
  retryPauseMs: 5 * MINUTE,
  retryPauseMaxMs: 6 * HOUR,
  /** How long an event is tried, and after how long without any success the endpoint is switched off. */
  triedForMs: 3 * DAY,
  /** So many tries in a row must have failed as well: a pause of ours is no failure of the endpoint. */
  failuresUntilOff: 10,

  /** How long the secret before is valid beside a new one. */
  overlapMs: DAY,
  /** How long tries are shown, and a removed endpoint's row stays. */
  shownMs: 30 * DAY,
} as const;
