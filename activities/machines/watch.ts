import { setTimeout as pause } from 'node:timers/promises';
import { sleep } from '@temporalio/activity';
import { ensureProvider, replaceListings } from '../../adapters/postgres/catalog/catalog.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { recordOfferHour } from '../../adapters/postgres/catalog/offer-history.js';
import { readReportedUse, recordUse } from '../../adapters/postgres/machines/telemetry.js';
import { isBusy, recordLostPods } from '../../adapters/postgres/machines/pods.js';
import {
  noteProviderFailure,
  noteProviderSuccess,
  rateLimitedForMs,
} from '../../adapters/postgres/catalog/provider-health.js';
import { recordOddities } from '../../adapters/postgres/catalog/provider-oddities.js';
import { judgeGuards } from '../../adapters/postgres/rentals/idle-guards.js';
import { ProviderError, type Provider } from '../../adapters/providers/provider.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { machineLimits } from '../../domain/machines/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { Delivery } from '../upkeep/delivery.js';
import { telemetryLimits, usesIn, UseMinutes, type MinuteOfUse } from '../../domain/machines/telemetry.js';
import type { ActivityDeps } from '../deps.js';
import { eachPart } from '../each-item.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { startableAt } from '../rentals/allocation.js';
import { judgeReports } from './machine-proofs.js';
import { renewEnds } from './renew-ends.js';
import { readBalance } from './watch-balance.js';
import { askRunningPods, judgePodList } from './watch-pods.js';

/** The state of a watcher that operators see in its heartbeat. */
interface WatchState {
  lists: number;
  pods: number;
  held: number;
  offers: number;
  lastError: string | null;
}

/**
 * Watches one upstream: one list call every 2 seconds serves all its pods, one catalog call comes every 30. If the
 * upstream's quotas allow less, both slow down evenly (decision 93, "Quotas and upstream money").
 */
export function createWatchActivities(deps: ActivityDeps) {
  return {
    /**
     * Runs for `forMs` and returns; its workflow starts it again. Its heartbeat tells when a worker dies, and
     * another worker takes over.
     */
    async watchProvider(code: string, forMs: number): Promise<'again' | 'not configured'> {
      const provider = deps.providers.get(code);
      if (!provider) return 'not configured';
      return withHeartbeat(
        async (tell) => {
          await ensureProvider(
            deps.db,
            code,
            startableAt(provider, deps.settings),
            provider.software ?? null,
            provider.telemetry ?? null,
          );
          const pollMs = deps.settings.pollMs ?? machineLimits.pollMs;
          const watch = new Watch(deps, provider, pollMs, tell);
          const end = performance.now() + forMs;
          try {
            // A list that is being read is finished: one that takes longer than all of this would never be whole.
            while (performance.now() < end || watch.isListing) {
              const started = performance.now();
              await watch.round(started, performance.now() < end);
              tell({ ...watch.state });
              await sleep(Math.max(pollMs / 20, pollMs - (performance.now() - started)));
            }
          } finally {
            await watch.ended();
          }
          return 'again' as const;
        },
        { stalledAfterMs: ONE_CALL_MS },
      );
    },
  };
}

/** The rounds of one watcher. Each step has its own pace; a step that fails is noted and comes again. */
class Watch {
  readonly state: WatchState = { lists: 0, pods: 0, held: 0, offers: 0, lastError: null };
  readonly #delivery: Delivery;
  readonly #useMinutes = new UseMinutes();
  #nextCatalogMs = 0;
  #nextListMs = 0;
  #nextRenewalMs = 0;
  #nextBalanceMs = 0;
  #nextReportedMs = 0;
  /** Until when reports of use were read, by the database's clock. */
  #reportedUntil: Date | undefined;
  /** List and catalog take turns, a list first: nobody else looks at the machines. */
  #owesList = true;
  /** The questions to the machines take seconds when many are silent; the lists do not wait for them. */
  #asking: Promise<unknown> | undefined;
  /** A list of many pages takes minutes, and the catalog would age out meanwhile. */
  #listing: Promise<unknown> | undefined;
  /** When the list that is being read last told of a part. */
  #partMs = 0;
  #isOver = false;
  #catalog: Promise<unknown> | undefined;
  #balance: Promise<void> | undefined;

  constructor(
    private readonly deps: ActivityDeps,
    private readonly provider: Provider,
    private readonly pollMs: number,
    private readonly tell: Tell,
  ) {
    this.#delivery = new Delivery(deps);
  }

  /** Whether a list is being read that its round did not wait for. */
  get isListing(): boolean {
    return this.#listing !== undefined;
  }

  /** @param mayList false where no other list may begin any more */
  async round(nowMs: number, mayList: boolean): Promise<void> {
    const { db } = this.deps;
    const { code } = this.provider;
    await this.#readReported(nowMs);
    if ((await rateLimitedForMs(db, code)) > 0) return;
    const isListDue = mayList && (await this.#isListDue(nowMs));
    if (nowMs >= this.#nextCatalogMs && !(isListDue && this.#owesList)) await this.#beginCatalog(nowMs);
    if (isListDue) await this.#beginList(nowMs);
    await this.#awaitList();
    if (nowMs >= this.#nextBalanceMs) this.#beginBalance(nowMs);
    if (nowMs >= this.#nextRenewalMs) await this.#renewEnds(nowMs);
    this.#asking ??= askRunningPods(this.deps, code)
      .catch((error: unknown) =>
        this.deps.log.warn({ provider: code, err: error }, 'machines could not be asked'),
      )
      .finally(() => {
        this.#asking = undefined;
      });
  }

  async #isListDue(nowMs: number): Promise<boolean> {
    if (this.isListing) return false;
    return nowMs >= this.#nextListMs || isBusy(this.deps.db, this.provider.code);
  }

  /** Resolves when nothing of this watcher is under way any more. */
  async ended(): Promise<void> {
    this.#isOver = true;
    try {
      await this.#listing?.catch(() => undefined);
      // Another watcher takes over, and nobody else knows what this minute has told so far.
      const minutes = this.#useMinutes.end();
      if (minutes.length > 0) await this.#keepUse(minutes, (await readClock(this.deps.db)).getTime());
    } finally {
      await this.#delivery.ended();
      await this.#asking;
      // Each of its reads has a limit, which together may be longer than that of a standstill.
      const telling = setInterval(() => this.tell({ ...this.state }), machineLimits.pollMs);
      await this.#catalog;
      clearInterval(telling);
      await this.#balance;
    }
  }

  /**
   * What one round leaves is renewed by the next one, or once there is room for it: the upstream ends paid machines else.
   */
  async #renewEnds(nowMs: number): Promise<void> {
    this.#nextRenewalMs = nowMs + rentalLimits.deadManRenewEveryMs;
    await this.#guarded(async () => {
      const leftInMs = await renewEnds(this.deps, this.provider, () => this.tell({ ...this.state }));
      if (leftInMs !== undefined) this.#nextRenewalMs = Math.min(this.#nextRenewalMs, nowMs + leftInMs);
    });
  }

  /** Begins to read the catalog. Neither its reads, each of which has a limit, nor its failures keep a list from being read. */
  async #beginCatalog(nowMs: number): Promise<void> {
    if (this.#catalog !== undefined || (await this.#isPutOff('offers'))) return;
    this.#owesList = true;
    const { code } = this.provider;
    this.#catalog = this.#guarded(() => this.#syncCatalog())
      .then((isRead) => {
        if (isRead) this.#nextCatalogMs = nowMs + catalogLimits.catalogSyncMs;
      })
      .catch((error: unknown) => this.deps.log.warn({ provider: code, err: error }, 'no catalog was kept'))
      .finally(() => {
        this.#catalog = undefined;
      });
  }

  async #beginList(nowMs: number): Promise<void> {
    if (await this.#isPutOff('pods')) return;
    this.#owesList = false;
    this.#nextListMs = nowMs + machineLimits.idlePolls * this.pollMs;
    this.#partMs = performance.now();
    this.#listing = this.#guarded(() => this.#list());
    // The round that finds it failed throws its failure.
    this.#listing.catch(() => undefined);
  }

  /** Waits for the list as long as a round usually takes; a longer one goes on beside the next rounds. */
  async #awaitList(): Promise<void> {
    if (this.#listing === undefined) return;
    // The rounds tell of progress too, and must not hide that the list makes none.
    if (performance.now() - this.#partMs > ONE_CALL_MS) throw new Error('the list of machines stands still');
    const over = new AbortController();
    const isRead = await Promise.race([
      this.#listing.then(() => true),
      pause(machineLimits.pollMs, false, { signal: over.signal }),
    ]).finally(() => over.abort());
    if (isRead) this.#listing = undefined;
  }

  /** Ends the reading of a list once its watcher is over: another one may be reading already. */
  #tellPart(): void {
    if (this.#isOver) throw new ProviderError('unknown', 'listing pods: its watcher is over');
    this.#partMs = performance.now();
    this.tell({ ...this.state });
  }

  /** Tells whether our own pace puts a read off. That is no failure of the upstream, whose offers stay for sale. */
  async #isPutOff(read: 'offers' | 'pods'): Promise<boolean> {
    return ((await this.provider.pace?.(read)) ?? 0) > 0;
  }

  /** Begins to read the balance. Nothing waits for it, and it has the limit of a call. */
  #beginBalance(nowMs: number): void {
    this.#nextBalanceMs = nowMs + machineLimits.balanceEveryMs;
    this.#balance ??= readBalance(this.deps, this.provider).finally(() => {
      this.#balance = undefined;
    });
  }

  async #syncCatalog(): Promise<void> {
    const { code } = this.provider;
    const offers = await this.provider.listOffers();
    await eachPart(this.deps, `catalog of ${code}`, async () => {
      await replaceListings(this.deps.db, code, offers);
      await recordOddities(this.deps.db, code, this.deps.oddities.take(code));
      this.state.offers = offers.length;
    });
    // What the catalog was is worth less than what it is: a failure keeps no offer from being sold.
    await eachPart(this.deps, `price history of ${code}`, () => recordOfferHour(this.deps.db, code));
  }

  async #list(): Promise<void> {
    const askedAt = await readClock(this.deps.db);
    const pods = await this.provider.listPods(() => this.#tellPart());
    this.state.held = await judgePodList(this.deps, this.provider.code, { pods, askedAt });
    this.state.lists += 1;
    this.state.pods = pods.length;
    const minutes = this.#useMinutes.take(askedAt.getTime(), usesIn(pods));
    if (minutes.length > 0) await this.#keepUse(minutes, askedAt.getTime());
    const bad = await this.#judgeReports();
    if ((await recordLostPods(this.deps.db, this.provider.code)) + bad > 0) this.#delivery.begin();
  }

  /** Reads the reports of use where a reporter makes them: each machine's newest is here for a minute. */
  async #readReported(nowMs: number): Promise<void> {
    const { code, telemetry } = this.provider;
    if (telemetry?.source !== 'reporter' || nowMs < this.#nextReportedMs) return;
    this.#nextReportedMs = nowMs + machineLimits.reportedUsePolls * this.pollMs;
    await eachPart(this.deps, `reported use of ${code}`, async () => {
      const now = (await readClock(this.deps.db)).getTime();
      const since = this.#reportedUntil ?? new Date(now - telemetryLimits.staleMs);
      const minutes = await readReportedUse(this.deps.db, code, since);
      // One that is committed a moment late is read all the same; what is read twice counts once.
      this.#reportedUntil = new Date(now - machineLimits.pollMs);
      if (minutes.length > 0) await this.#keepUse(minutes, now);
    });
  }

  /** A failure keeps no list from being judged: the next round reads the same reports. */
  async #judgeReports(): Promise<number> {
    const part = `reports of machines at ${this.provider.code}`;
    return (await eachPart(this.deps, part, () => judgeReports(this.deps, this.provider))) ?? 0;
  }

  /** What a machine did is worth less than what it is: a failure keeps no list from being judged. */
  async #keepUse(minutes: readonly MinuteOfUse[], nowMs: number): Promise<void> {
    const { code: providerCode, telemetry: told } = this.provider;
    await eachPart(this.deps, `use of ${providerCode}`, () =>
      recordUse(this.deps.db, providerCode, minutes, told?.source),
    );
    if (!told) return;
    await eachPart(this.deps, `idle guards of ${providerCode}`, () =>
      judgeGuards(this.deps.db, { providerCode, told }, minutes, nowMs),
    );
  }

  /**
   * Notes a failure of an upstream, which is asked again. Its listings age out by themselves (decision 13, "Live
   * listings").
   */
  async #guarded(work: () => Promise<void>): Promise<boolean> {
    const { db, log } = this.deps;
    const { code } = this.provider;
    try {
      await work();
      await noteProviderSuccess(db, code, 'reading');
      this.state.lastError = null;
      return true;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      // Its reading was ended from here, which is no failure of the upstream.
      if (this.#isOver) return false;
      this.state.lastError = error.briefly;
      log.warn({ provider: code, err: error }, 'the upstream did not answer; asking again');
      await noteProviderFailure(db, code, 'reading', error);
      return false;
    }
  }
}
