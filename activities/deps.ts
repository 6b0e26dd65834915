import type { Logger } from 'pino';
import type { Tick } from '../adapters/metrics/ticks.js';
import type { Database } from '../adapters/postgres/database.js';
import type { MailTransport } from '../adapters/mailer/smtp.js';
import type { Processor } from '../adapters/processor/processor.js';
import type { OddityBook } from '../adapters/providers/upstream/oddity-book.js';
import type { Prober } from '../adapters/providers/ssh/prober.js';
import type { Provider } from '../adapters/providers/provider.js';
import type { TemporalClient } from '../adapters/temporal/client.js';

/** What the activities need of the outside. Built by worker/index.ts. */
export interface ActivityDeps {
  readonly db: Database;
  /**
   * The tick's own connections: nothing else takes one, so that nothing keeps a tick from its turn (decision 73, "Turns
   * at the wallet").
   */
  readonly meterDb: Database;
  /** Connections of their own for opening rentals, whose transactions last as long as an upstream's answer. */
  readonly openDb: Database;
  readonly temporal: TemporalClient;
  readonly providers: ReadonlyMap<string, Provider>;
  /** What the providers' adapters skipped. */
  readonly oddities: OddityBook;
  readonly prober: Prober;
  readonly processor: Processor;
  readonly mail: MailTransport;
  readonly log: Logger;
  /** Counts each tick. */
  readonly observeTick?: (tick: Tick) => void;
  readonly settings: {
    readonly deployment: string;
    readonly shards: number;
    readonly allowPrivatePods: boolean;
    readonly checkoutUrls: { readonly success: string; readonly cancel: string };
    /** Who is told of what needs an operator; null or absent: the log only. */
    readonly operatorEmail?: string | null;
    /**
     * How many top-ups a young account may begin in a day (decision 23, "Guards against loss"); the limit's unless
     * told.
     */
    readonly topupsPerDayWhenYoung?: number;
    /** Machines of a user that are not billed, in an hour, after which a create waits; the product's limit unless told. */
    readonly freeMachinesPerHour?: number;
    /** From one attempt of auto-topup to the next, in milliseconds; the specification's 5 minutes unless told. */
    readonly autoTopupCooldownMs?: number;
    /** What one operator may move alone, in cents (decision 87, "Operator orders"); the limit's unless told. */
    readonly orderSingleLimitCents?: number;
    /** How long a day of dunning must be at least, in milliseconds; a real day unless told. */
    readonly minDunningDayMs?: number;
    /** The upkeep is not started: somebody runs its rounds by hand. */
    readonly withoutUpkeep?: boolean;
    /** How often pods are looked at, in milliseconds; the specification's 2 s unless told. */
    readonly pollMs?: number;
  };
}
