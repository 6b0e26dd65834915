import { keepItems, readLists } from '../../adapters/postgres/restore/items.js';
import {
  findOwnedTags,
  findRentalIds,
  listLiveRentals,
  readLastUse,
} from '../../adapters/postgres/restore/restore.js';
import { isDatabaseConfirmed, readWatermark } from '../../adapters/postgres/restore/watermark.js';
import { ProviderError } from '../../adapters/providers/provider.js';
import { readRentalRun } from '../../adapters/temporal/rental-history.js';
import { listRentalRunsSince } from '../../adapters/temporal/rental-runs.js';
import { readKeptWatermark } from '../../adapters/temporal/watermark.js';
import type { RentalId } from '../../domain/ids.js';
import { endInLostTime, limitInLostTime, type LostEnd } from '../../domain/operations/lost-time.js';
import type { ChangedLimit, EndedRental, RestoreReport } from '../../domain/operations/restore.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { compareWatermarks } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { toldBefore, type Tell } from '../heartbeat.js';
import { listMissingPayments, type EventsPlace } from './restore-payments.js';

/** How far a look has come. It is each heartbeat's detail, so that the next try goes on from there. */
interface Place {
  readonly step: 'rentals' | 'machines' | 'payments';
  /** The number of the last rental that was compared, and how many were. */
  readonly afterNo: number;
  readonly compared: number;
  readonly silentUpstreams: readonly string[];
  readonly events?: EventsPlace;
}

const beginning: Place = { step: 'rentals', afterNo: 0, compared: 0, silentUpstreams: [] };

interface Look {
  readonly runId: string;
  readonly since: Date;
  readonly tell: (place: Place) => void;
}

/**
 * Compares a database with Temporal, the upstreams and the processor. What it finds are rows of the run.
 * @param most how many of each list the report names; null for all of them
 */
export async function examine(
  deps: ActivityDeps,
  { runId, most, tell }: { readonly runId: string; readonly most: number | null; readonly tell: Tell },
): Promise<RestoreReport> {
  const { db, temporal } = deps;
  const place = toldBefore<Place>('afterNo') ?? beginning;
  tell(place);
  const isSound = (await isDatabaseConfirmed(db)) || (await compareWatermarks(deps)) === 'confirmed';
  // A timeline that nobody has vouched for yet counts as restored for whoever asks.
  const database: RestoreReport['database'] = isSound ? 'confirmed' : 'restored';
  const { value, raisedAt } = await readWatermark(db);
  const kept = await readKeptWatermark(temporal.workflow);
  const found = {
    database,
    watermark: value,
    raisedAt: raisedAt.toISOString(),
    keptInTemporal: kept,
    lostMinutes: Math.max(0, (kept ?? 0) - value),
  };
  // In a sound database, the daily reconciliation finds what it has not caught up with.
  if (database === 'confirmed') return { ...found, ...nothingLost };
  const looked = await lookFrom(deps, { runId, since: sinceOf(found.raisedAt), tell }, place);
  const lists = await readLists(db, runId, most);
  const noted = countOf(lists, 'ended') + countOf(lists, 'withoutRun');
  const goingOn = Math.max(0, looked.compared - noted);
  return { ...found, ...lists, goingOn, ...looked.told };
}

/** Does what of a look is left from a place on. */
async function lookFrom(
  deps: ActivityDeps,
  { runId, since, tell }: Look,
  from: Place,
): Promise<{ compared: number; told: Pick<RestoreReport, 'silentUpstreams' | 'unreadPayments'> }> {
  let place = from;
  const look: Look = { runId, since, tell: (next) => tell((place = next)) };
  if (place.step === 'rentals') {
    await compareRentals(deps, look, place);
    await keepLost(deps, look, place);
  }
  if (place.step === 'machines') await keepUnknownPods(deps, look, place);
  const unreadPayments = await listMissingPayments(deps, {
    ...{ since, runId, place: place.events },
    tell: (events) => look.tell({ ...place, events }),
  });
  return { compared: place.compared, told: { silentUpstreams: place.silentUpstreams, unreadPayments } };
}

function countOf(lists: Awaited<ReturnType<typeof readLists>>, list: 'ended' | 'withoutRun'): number {
  return lists[list].length + (lists.more?.[list] ?? 0);
}

const nothingLost = {
  ended: [],
  goingOn: 0,
  withoutRun: [],
  lost: [],
  unknownPods: [],
  silentUpstreams: [],
  missingPayments: [],
};

/** Begins a little before the watermark: it may be a minute older than the dump, and clocks differ a little. */
export function sinceOf(raisedAt: string): Date {
  return new Date(new Date(raisedAt).getTime() - paymentLimits.eventsOverlapMs);
}

/** Rows of one statement. */
const ROWS_AT_ONCE = 1_000;

/** How many histories are read at once: each takes some milliseconds, and a fleet has many. */
const HISTORIES_AT_ONCE = 20;

async function compareRentals(deps: ActivityDeps, { runId, since, tell }: Look, from: Place): Promise<void> {
  for (let place = from; ;) {
    const page = await listLiveRentals(deps.db, { afterNo: place.afterNo, limit: ROWS_AT_ONCE });
    for (const some of chunks(page, HISTORIES_AT_ONCE)) {
      const compared = await Promise.all(some.map((rental) => compareRental(deps, rental, since)));
      const ended = compared.flatMap((one) => one.ended ?? []);
      const limits = compared.flatMap((one) => one.limit ?? []);
      const withoutRun = compared.flatMap((one) => one.withoutRun ?? []);
      await keepItems(deps.db, runId, 'ended', ended);
      await keepItems(deps.db, runId, 'limit', limits);
      await keepItems(deps.db, runId, 'without_run', withoutRun);
      const afterNo = some.at(-1)?.no ?? place.afterNo;
      place = { ...place, afterNo, compared: place.compared + some.length };
      tell(place);
    }
    if (page.length < ROWS_AT_ONCE) return;
  }
}

/** Compares a live rental with its history; nothing is returned when it simply goes on. */
async function compareRental(
  { db, temporal }: ActivityDeps,
  { id: rentalId, status }: Awaited<ReturnType<typeof listLiveRentals>>[number],
  since: Date,
): Promise<{ ended?: EndedRental; limit?: ChangedLimit; withoutRun?: RentalId }> {
  const run = await readRentalRun(temporal.workflow, rentalId, since);
  if (run === undefined) return { withoutRun: rentalId };
  const use = await readLastUse(db, rentalId);
  // Its end is known here: what is left of it, its workflow does.
  if (use === undefined) return {};
  const end = endInLostTime(run, use);
  if (end) return { ended: { rentalId, status, ...endOf(end), ...(run.isOpen && { isOpen: true }) } };
  const limit = limitInLostTime(run, use);
  if (limit === null) return {};
  const { here, there, isLowered } = limit;
  return { limit: { rentalId, isLowered, here: isoOf(here), there: isoOf(there) } };
}

function endOf({
  at,
  by,
  formulaCents,
  toldCents,
  billCents,
}: LostEnd): Pick<EndedRental, 'endedAt' | 'by' | 'differs'> {
  const end = { endedAt: at.toISOString(), by };
  if (toldCents === null || toldCents === formulaCents) return end;
  return { ...end, differs: { formulaCents, toldCents, billCents } };
}

function isoOf(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}

/** Keeps the rentals that Temporal knows and the database does not. Temporal's list is read from its beginning. */
async function keepLost(
  { db, temporal }: ActivityDeps,
  { runId, since, tell }: Look,
  place: Place,
): Promise<void> {
  const runs = await listRentalRunsSince(temporal.workflow, since, () => tell(place));
  for (const some of chunks(runs)) {
    const known = await findRentalIds(
      db,
      some.map(({ rentalId }) => rentalId),
    );
    await keepItems(
      db,
      runId,
      'lost',
      some.filter(({ rentalId }) => !known.has(rentalId)),
    );
    tell(place);
  }
  tell({ ...place, step: 'machines' });
}

async function keepUnknownPods(deps: ActivityDeps, { runId, tell }: Look, from: Place): Promise<void> {
  const silentUpstreams: string[] = [];
  for (const provider of deps.providers.values()) {
    try {
      const pods = await provider.listPods(() => tell(from));
      for (const some of chunks(pods)) {
        const owned = await findOwnedTags(
          deps.db,
          some.map(({ tag }) => tag),
        );
        const unknown = some.filter(({ tag }) => !owned.has(tag));
        const items = unknown.map(({ podId, tag, upstreamStatus: status, pricePerHourCents }) => {
          return { providerCode: provider.code, podId, tag, status, pricePerHourCents };
        });
        await keepItems(deps.db, runId, 'pod', items);
        tell(from);
      }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      deps.log.warn({ provider: provider.code, err: error }, 'its machines could not be listed');
      silentUpstreams.push(provider.code);
    }
  }
  tell({ ...from, step: 'payments', silentUpstreams });
}

function* chunks<T>(items: readonly T[], size = ROWS_AT_ONCE): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
