import type { Config } from '../config.js';
import { unnamedSeller, type Seller } from '../domain/payments/receipt.js';
import type { ReceiverRules } from '../domain/webhooks/receiver-url.js';
import { paymentLimits } from '../domain/payments/limits.js';
import { softwareLimits } from '../domain/rentals/software.js';
import { requestLimits } from '../domain/requests/limits.js';

/** The API's part of the configuration. Durations are milliseconds. */
export interface ApiSettings {
  /** The one list of origins that may call with cookies (decision 12, "Allowed origins"). */
  readonly allowedOrigins: readonly string[];
  /** The hosts that it answers to, as `host:port`; null: any. */
  readonly allowedHosts: readonly string[] | null;
  readonly secureCookie: boolean;
  /** Where browsers reach the API and the dashboard, without a slash at the end. */
  readonly publicUrl: string;
  readonly dashboardUrl: string;
  /** Whether one proxy stands in front and appends the caller to X-Forwarded-For. */
  readonly trustProxy: boolean;
  /** Whether strangers are told what families cost (decision 162, "Public prices"). */
  readonly publicPrices: boolean;
  /**
   * Decision 58, "Limits of requests": requests in a minute. Reads of one session, and of all
   * sessions of one user.
   */
  readonly readsPerMinute: number;
  readonly readsPerMinuteOfUser: number;
  /** Changes of one user, and all of one client address without a session. */
  readonly changesPerMinute: number;
  readonly strangersPerMinute: number;
  /**
   * Decision 97, "Requests under way": requests of one caller that are under way at once, of each
   * kind.
   */
  readonly requestsAtOnce: number;
  /** Decision 129, "Unread answers": how often it is asked whether a reader may still have what they are sent. */
  readonly askAgainMs: number;
  readonly billing: {
    readonly enabled: boolean;
    readonly publishableKey: string;
    /** Whether the secret key is one for real money. */
    readonly livemode: boolean;
    /** The address of a simulator that stands in for the processor; its pages take cards. */
    readonly simulatorUrl: string | null;
  };
  /** Where people get help: a mail address or an https address; null: nobody is named. */
  readonly supportContact: string | null;
  /** Who receipts are from. */
  readonly seller: Seller;
  /** The daily cap of auto-topup for accounts that are made now, in cents; null: no cap. */
  readonly autoTopupDailyCapCents: number | null;
  /** Decision 128, "Trying of cards": ways to try one that may be begun, and the declines that end a card's form. */
  readonly cardTries: {
    readonly perHour: number;
    readonly perHourOfAddress: number;
    readonly declinesPerPage: number;
  };
  readonly webhooks: {
    /** Seals their secrets; empty: they are disabled. */
    readonly publicKey: string;
  } & ReceiverRules;
  readonly meterShards: number;
  readonly ownSoftware: {
    /** How long after its upstream calls a machine running it is billed at the latest. */
    readonly graceMs: number;
    /** In base64; empty: requests may hold no secrets. */
    readonly installationKey: string;
  };
  /**
   * How many codes one client address may ask for in an hour, for whatever e-mail addresses (decision 8, "One-time
   * codes").
   */
  readonly codeRequestsPerClientPerHour: number;
  /**
   * Decision 4, "Promise of a 503": how long an opening may take, and how long the API waits for
   * its answer beyond that.
   */
  readonly answerWithinMs: number;
  readonly answerGraceMs: number;
  /** How long the last look waits for the wallet's lock. */
  readonly lockWaitMs: number;
  /** Decision 6, "Idempotent retries": how long a retry waits for its twin. */
  readonly idempotencyWaitMs: number;
  /**
   * Decision 15, "Stopping a rental": how long a stop waits for the settlement before it answers
   * without one.
   */
  readonly stopWaitMs: number;
  /** How long a call waits for a sign of life from Temporal before it is refused. */
  readonly reachMs: number;
  /** How long an answer of /readyz is kept for the next callers. */
  readonly readyKeptMs: number;
}

/** Makes the API's settings from a configuration and the service's limits (domain/requests/limits.ts). */
export function settingsOf(config: Config): ApiSettings {
  return {
    ...defaultSettings,
    allowedOrigins: [...new Set([...config.api.allowedOrigins, new URL(config.api.dashboardUrl).origin])],
    allowedHosts: config.api.allowedHosts,
    secureCookie: config.api.secureCookie,
    publicUrl: config.api.publicUrl,
    dashboardUrl: config.api.dashboardUrl,
    trustProxy: config.api.trustProxy,
    publicPrices: config.api.publicPrices,
    readsPerMinute: config.api.readsPerMinute,
    readsPerMinuteOfUser: config.api.readsPerMinuteOfUser,
    changesPerMinute: config.api.changesPerMinute,
    strangersPerMinute: config.api.strangersPerMinute,
    requestsAtOnce: atOnceOf(config.database.poolMax),
    billing: {
      enabled: config.processor.secretKey !== '',
      publishableKey: config.processor.publishableKey,
      livemode: /^[sr]k_live_/.test(config.processor.secretKey),
      simulatorUrl: config.processor.apiUrl,
    },
    supportContact: config.supportContact,
    seller: config.seller,
    autoTopupDailyCapCents: config.autoTopupDailyCapCents,
    cardTries: config.cardTries,
    webhooks: {
      publicKey: config.webhooks.publicKey,
      allowPrivate: config.webhooks.allowPrivate,
      ownHosts: config.webhooks.ownHosts,
    },
    meterShards: config.meter.shards,
    ownSoftware: config.ownSoftware,
  };
}

/** The requests of one caller at once: reads and changes of one user together must leave most of the pool to the others. */
function atOnceOf(poolMax: number): number {
  return Math.max(1, Math.min(requestLimits.requestsAtOnce, Math.floor(poolMax / 5)));
}

/** The settings of a service without a configuration. */
export const defaultSettings: ApiSettings = {
  allowedOrigins: [],
  allowedHosts: null,
  secureCookie: true,
  publicUrl: 'http://127.0.0.1:8080',
  dashboardUrl: 'http://127.0.0.1:3000',
  trustProxy: false,
  publicPrices: false,
  readsPerMinute: requestLimits.readsPerMinute,
  readsPerMinuteOfUser: requestLimits.readsPerMinuteOfUser,
  changesPerMinute: requestLimits.changesPerMinute,
  strangersPerMinute: requestLimits.strangersPerMinute,
  requestsAtOnce: requestLimits.requestsAtOnce,
  askAgainMs: requestLimits.askAgainMs,
  billing: { enabled: false, publishableKey: '', livemode: false, simulatorUrl: null },
  supportContact: null,
  seller: unnamedSeller,
  autoTopupDailyCapCents: null,
  cardTries: {
    perHour: paymentLimits.cardTriesPerHour,
    perHourOfAddress: paymentLimits.cardTriesPerHourOfAddress,
    declinesPerPage: paymentLimits.declinesPerPage,
  },
  webhooks: { publicKey: '', allowPrivate: false, ownHosts: [] },
  meterShards: 1,
  ownSoftware: { graceMs: softwareLimits.graceMs, installationKey: '' },
  codeRequestsPerClientPerHour: 30,
  answerWithinMs: requestLimits.answerWithinMs,
  answerGraceMs: requestLimits.answerGraceMs,
  lockWaitMs: 2_000,
  idempotencyWaitMs: requestLimits.idempotencyWaitMs,
  stopWaitMs: 10_000,
  reachMs: 2_000,
  readyKeptMs: 1_000,
};
