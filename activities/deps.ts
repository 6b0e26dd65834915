import type { Seller } from '../domain/payments/receipt.js';
import type { Logger } from 'pino';
import type { Tick } from '../adapters/metrics/ticks.js';
import type { Database } from '../adapters/postgres/database.js';
import type { MailTransport } from '../adapters/mailer/smtp.js';
import type { Processor } from '../adapters/processor/processor.js';
import type { OddityBook } from '../adapters/providers/upstream/oddity-book.js';
import type { Prober } from '../adapters/providers/ssh/prober.js';
import type { Provider } from '../adapters/providers/provider.js';
import type { OpenSecret } from '../adapters/sealed-secrets.js';
import type { SendWebhook } from '../adapters/webhooks/sender.js';
import type { TemporalClient } from '../adapters/temporal/client.js';
import type { FreeMachineLimits } from '../domain/rentals/free-machines.js';

/** The connections, peers and settings that the activities work with. worker/index.ts builds them. */
export interface ActivityDeps {
  readonly db: Database;
  /**
   * The tick's own connections. Nothing else takes one, so that nothing keeps a tick from its turn (decision 73, "Turns
   * at the wallet").
   */
  readonly meterDb: Database;
  /** Connections for opening rentals alone, whose transactions last as long as an upstream's answer. */
  readonly openDb: Database;
  /** Connections for delivering webhooks alone: many endpoints that fail at once take none from others. */
  readonly webhookDb: Database;
  readonly temporal: TemporalClient;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Counts the oddities that the providers' adapters skipped. */
  readonly oddities: OddityBook;
  readonly prober: Prober;
  readonly processor: Processor;
  readonly mail: MailTransport;
  /** The way to users' endpoints, and what opens their secrets. */
  readonly webhooks: { readonly send: SendWebhook; readonly openSecret: OpenSecret };
  readonly log: Logger;
  /** Counts each tick. */
  readonly observeTick?: (tick: Tick) => void;
  readonly settings: {
    readonly deployment: string;
    readonly shards: number;
    readonly allowPrivatePods: boolean;
    /** Where browsers reach the API, for the links in mails, without a slash at the end. */
    readonly publicUrl: string;
    readonly checkoutUrls: { readonly success: string; readonly cancel: string };
    /** The address that mails for operators go to; null or absent: the log only. */
    readonly operatorEmail?: string | null;
    /** Where people get help: a mail address or an https address; null or absent: nobody is named. */
    readonly supportContact?: string | null;
    /** Who receipts are from. */
    readonly seller: Seller;
    /**
     * How many top-ups a young account may begin in a day (decision 23, "Guards against loss"). Default: the limit's
     * value.
     */
    readonly topupsPerDayWhenYoung?: number;
    /** The declines that end a payment page. Default: the limit's value. */
    readonly declinesPerPage?: number;
    /** What machines may cost that nobody is billed for. Default: the limits' values. */
    readonly freeMachines?: Partial<FreeMachineLimits>;
    /** Where the numbers of closed accounts are kept outside of the database; null or absent: nowhere. */
    readonly closedAccountsFile?: string | null;
    /** Makes the tokens of notebooks, and recognizes closed accounts, in base64; absent or empty: neither. */
    readonly installationKey?: string;
    /** Where machines reach the listener, without a slash at the end; null or absent: they fetch nothing from us. */
    readonly machineUrl?: string | null;
    /** How long own software has until it is billed all the same, in milliseconds. Default: the limit's value. */
    readonly ownSoftwareGraceMs?: number;
    /** How long an opening waits for whoever holds the wallet, in milliseconds. Default: the limit's value. */
    readonly openLockWaitMs?: number;
    /**
     * How long a mail waits for more to tell, in milliseconds (decision 103, "Notices by mail"). Default: the limit's value.
     */
    readonly noticeQuietMs?: number;
    /** From one attempt of auto-topup to the next, in milliseconds. Default: the specification's 5 minutes. */
    readonly autoTopupCooldownMs?: number;
    /**
     * The most that one operator may move alone, in cents (decision 87, "Operator orders"). Default: the limit's value.
     */
    readonly orderSingleLimitCents?: number;
    /** The shortest day of dunning, in milliseconds. Default: a real day. */
    readonly minDunningDayMs?: number;
    /** Leaves the upkeep unstarted: somebody runs its rounds by hand. */
    readonly withoutUpkeep?: boolean;
    /** The time from one look at the pods to the next, in milliseconds. Default: the specification's 2 s. */
    readonly pollMs?: number;
  };
}
