import { Context } from '@temporalio/activity';
import { isDatabaseConfirmed, readWatermark } from '../../adapters/postgres/restore/watermark.js';
import {
  endAtPast,
  findOwnedTags,
  findRentalIds,
  getReconcileOrder,
  listLiveRentals,
  lowerLimit,
  readLastUse,
  resume,
} from '../../adapters/postgres/restore/restore.js';
import { signalWatermark, readKeptWatermark } from '../../adapters/temporal/watermark.js';
import { readRentalRun } from '../../adapters/temporal/rental-history.js';
import { listRentalRunsSince } from '../../adapters/temporal/rental-runs.js';
import { ProviderError } from '../../adapters/providers/provider.js';
import type { OperationId, RentalId } from '../../domain/ids.js';
import { endInLostTime, limitInLostTime, type LostEnd } from '../../domain/operations/lost-time.js';
import { operationLimits } from '../../domain/operations/limits.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type {
  ChangedLimit,
  EndedRental,
  LostRental,
  Reconciled,
  RestoreReport,
  UnknownPod,
} from '../../domain/operations/restore.js';
import type { RestoreInput } from '../../workflows/contracts/restore.js';
import { closeAgain } from '../closing/close-again.js';
import { compareWatermarks } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { FailedItems } from '../reconcile/failed-items.js';
import { answeringRefusals } from '../refusals.js';
import { listMissingPayments, rebuildPayments } from './restore-payments.js';

/**
 * The activities by which an operator examines a restored database and mends it. They alone work while everything else
 * refuses.
 */
export function createRestoreActivities(deps: ActivityDeps) {
  return {
    /** Compares the database with Temporal, the upstreams and the processor; changes nothing but the brake. */
    async examineRestore(): Promise<RestoreReport> {
      return withHeartbeat((tell) => examine(deps, tell), { stalledAfterMs: SEVERAL_CALLS_MS });
    },

    /**
     * Ends the rentals that ended in the lost time, at the instants of their history, and lowers the limits that were
     * lowered in it. The metering statement charges them up to then once metering resumes.
     * @param order the operator's order to reconcile
     * @returns how many were ended, and those that could not be: one that fails keeps no other from it
     * @throws ApplicationFailure with the code of a refusal when no operator has ordered it
     */
    async endClosedRentals(
      ended: readonly EndedRental[],
      order: string,
      limits: readonly ChangedLimit[] = [],
    ): Promise<{ ended: number; undone: string[] }> {
      return withHeartbeat(
        async (tell) => {
          const { reason } = await answeringRefusals(() => getReconcileOrder(deps.db, order as OperationId));
          const failed = new FailedItems(deps.log);
          let count = 0;
          for (const [done, rental] of ended.entries()) {
            const end = async () => (await endAtPast(deps.db, rental, reason), true);
            if (await failed.unlessItFails(rental.rentalId, end)) count += 1;
            tell({ done: done + 1, of: ended.length });
          }
          for (const limit of limits.filter(({ isLowered }) => isLowered)) {
            await failed.unlessItFails(limit.rentalId, () => lowerLimit(deps.db, limit));
            tell({ limited: limit.rentalId });
          }
          return { ended: count, undone: undoneAtLast(failed) };
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },

    /**
     * Takes in what the processor says since the database was dumped, and credits each payment once.
     * @returns what became of the payments, and those that could not be taken in
     */
    async rebuildPayments({
      raisedAt,
      missingPayments,
    }: Pick<RestoreReport, 'raisedAt' | 'missingPayments'>): Promise<
      Pick<Reconciled, 'credited' | 'parked'> & { undone: string[] }
    > {
      return withHeartbeat(
        async (tell) => {
          const failed = new FailedItems(deps.log);
          const became = await rebuildPayments(deps, sinceOf(raisedAt), missingPayments, { tell, failed });
          return { ...became, undone: undoneAtLast(failed) };
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },

    /**
     * Erases closed accounts again, then confirms the database above Temporal's watermark and lifts the brake, in one
     * transaction with its record.
     * @returns the new watermark
     */
    async resumeAfterRestore(
      { operationId }: NonNullable<RestoreInput['reconcile']>,
      report: RestoreReport,
      done: Omit<Reconciled, 'watermark'>,
    ): Promise<number> {
      await answeringRefusals(() => getReconcileOrder(deps.db, operationId));
      const watermark = await withHeartbeat(
        async (tell) => {
          await closeAgain(deps, tell);
          const kept = await readKeptWatermark(deps.temporal.workflow);
          return resume(deps.db, operationId, { kept: kept ?? 0, report, done }, tell);
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
      await signalWatermark(deps.temporal.workflow, watermark);
      deps.log.warn(
        { operationId, ...done, watermark },
        'an operator reconciled a restored database: it goes on',
      );
      return watermark;
    },
  };
}

/**
 * Returns what could not be done, once it was tried often enough: a person must look at it.
 * @throws Error before that: the others are done, and all are tried again
 */
function undoneAtLast({ told }: FailedItems): string[] {
  if (told.length > 0 && Context.current().info.attempt < operationLimits.quickTries) {
    throw new Error(`not all could be done, which is tried again: ${told.join(', ')}`);
  }
  return told;
}

async function examine(deps: ActivityDeps, tell: Tell): Promise<RestoreReport> {
  const { db, temporal } = deps;
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
  tell('comparing rentals with their runs');
  const rentals = await compareRentals(deps, sinceOf(found.raisedAt), tell);
  const lost = await listLost(deps, sinceOf(found.raisedAt));
  tell('asking the upstreams');
  const pods = await listUnknownPods(deps, tell);
  tell('asking the processor');
  const failed = new FailedItems(deps.log);
  const missingPayments = await listMissingPayments(deps, sinceOf(found.raisedAt), { tell, failed });
  return {
    ...found,
    ...rentals,
    lost,
    ...pods,
    missingPayments,
    unreadPayments: failed.told,
  };
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
function sinceOf(raisedAt: string): Date {
  return new Date(new Date(raisedAt).getTime() - paymentLimits.eventsOverlapMs);
}

/** How many histories are read at once: each takes some milliseconds, and a fleet has many. */
const HISTORIES_AT_ONCE = 20;

type Compared = Pick<RestoreReport, 'ended' | 'goingOn' | 'withoutRun'> & { readonly limits: ChangedLimit[] };

async function compareRentals(deps: ActivityDeps, since: Date, tell: Tell): Promise<Compared> {
  const ended: EndedRental[] = [];
  const limits: ChangedLimit[] = [];
  const withoutRun: RentalId[] = [];
  const live = await listLiveRentals(deps.db);
  for (let from = 0; from < live.length; from += HISTORIES_AT_ONCE) {
    const some = live.slice(from, from + HISTORIES_AT_ONCE);
    for (const compared of await Promise.all(some.map((rental) => compareRental(deps, rental, since)))) {
      if (compared.ended) ended.push(compared.ended);
      if (compared.limit) limits.push(compared.limit);
      if (compared.withoutRun) withoutRun.push(compared.withoutRun);
    }
    tell({ compared: from + some.length, ended: ended.length });
  }
  return { ended, goingOn: live.length - ended.length - withoutRun.length, withoutRun, limits };
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

async function listLost({ db, temporal }: ActivityDeps, since: Date): Promise<LostRental[]> {
  const runs = await listRentalRunsSince(temporal.workflow, since);
  const known = await findRentalIds(
    db,
    runs.map(({ rentalId }) => rentalId),
  );
  return runs.filter(({ rentalId }) => !known.has(rentalId));
}

async function listUnknownPods(
  deps: ActivityDeps,
  tell: Tell,
): Promise<Pick<RestoreReport, 'unknownPods' | 'silentUpstreams'>> {
  const unknownPods: UnknownPod[] = [];
  const silentUpstreams: string[] = [];
  for (const provider of deps.providers.values()) {
    try {
      const pods = await provider.listPods(() => tell({ listing: provider.code }));
      const owned = await findOwnedTags(
        deps.db,
        pods.map(({ tag }) => tag),
      );
      for (const { podId, tag, upstreamStatus: status, pricePerHourCents } of pods) {
        if (owned.has(tag)) continue;
        unknownPods.push({ providerCode: provider.code, podId, tag, status, pricePerHourCents });
      }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      deps.log.warn({ provider: provider.code, err: error }, 'its machines could not be listed');
      silentUpstreams.push(provider.code);
    }
  }
  return { unknownPods, silentUpstreams };
}
