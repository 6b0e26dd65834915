import { Context } from '@temporalio/activity';
import type { Database } from '../../adapters/postgres/database.js';
import {
  countDone,
  eachItem,
  keepReport,
  noteDone,
  type RestoreItems,
} from '../../adapters/postgres/restore/items.js';
import { endAtPast, getReconcileOrder, lowerLimit, resume } from '../../adapters/postgres/restore/restore.js';
import { readKeptWatermark, signalWatermark } from '../../adapters/temporal/watermark.js';
import type { OperationId } from '../../domain/ids.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type {
  ChangedLimit,
  EndedRental,
  Reconciled,
  RestoreReport,
} from '../../domain/operations/restore.js';
import type { RestoreInput } from '../../workflows/contracts/restore.js';
import { closeAgain } from '../closing/close-again.js';
import type { ActivityDeps } from '../deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { FailedItems } from '../reconcile/failed-items.js';
import { answeringRefusals } from '../refusals.js';
import { examine, sinceOf } from './examine.js';
import { rebuildPayments } from './restore-payments.js';
import { undoneAtLast } from './undone.js';

/**
 * The activities by which an operator examines a restored database and mends it. They alone work while everything else
 * refuses.
 */
export function createRestoreActivities(deps: ActivityDeps) {
  return {
    /**
     * Compares the database with Temporal, the upstreams and the processor; changes nothing but the brake. What it finds
     * are rows of this run, since a lost hour of a large fleet is more than one answer may hold.
     * @param look absent from a run that an earlier release began: it is told all of it, and no run
     */
    async examineRestore(look?: { readonly inRows: true }): Promise<RestoreReport> {
      const runId = ownRun();
      const most = look === undefined ? null : operationLimits.restoreNamed;
      const report = await withHeartbeat((tell) => examine(deps, { runId, most, tell }), {
        stalledAfterMs: SEVERAL_CALLS_MS,
      });
      return look === undefined ? report : { ...report, runId };
    },

    /**
     * Ends the rentals that ended in the lost time, at the instants of their history, and lowers the limits that were
     * lowered in it. The metering statement charges them up to then once metering resumes.
     * @param found the run that has found them; an earlier release told the rentals themselves, and the limits
     * @param order the operator's order to reconcile
     * @returns how many were ended, and those that could not be: one that fails keeps no other from it
     * @throws ApplicationFailure with the code of a refusal when no operator has ordered it
     */
    async endClosedRentals(
      found: string | readonly EndedRental[],
      order: string,
      limits: readonly ChangedLimit[] = [],
    ): Promise<{ ended: number; undone: string[] }> {
      return withHeartbeat(
        async (tell) => {
          const { reason } = await answeringRefusals(() => getReconcileOrder(deps.db, order as OperationId));
          const runId = await runOf(deps.db, found, limits);
          const pass = { runId, failed: new FailedItems(deps.log), tell };
          await eachUndone(deps.db, 'ended', pass, (trx, rental) => endAtPast(trx, rental, reason));
          await eachUndone(deps.db, 'limit', pass, async (trx, limit) => {
            if (limit.isLowered) await lowerLimit(trx, limit);
          });
          return { ended: await countDone(deps.db, runId, 'ended'), undone: undoneAtLast(pass.failed.told) };
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },

    /**
     * Takes in what the processor says since the database was dumped, and credits each payment once.
     * The run that has found payments has rows of them; an earlier release told the payments themselves.
     * @returns what became of the payments, and those that could not be taken in
     */
    async rebuildPayments({
      raisedAt,
      runId: told,
      missingPayments,
    }: Pick<RestoreReport, 'raisedAt' | 'runId'> & Partial<Pick<RestoreReport, 'missingPayments'>>): Promise<
      Pick<Reconciled, 'credited' | 'parked' | 'more'> & { undone: string[] }
    > {
      const runId = told ?? ownRun();
      return withHeartbeat(
        async (tell) => {
          await keepReport(deps.db, runId, { missingPayments: missingPayments ?? [] });
          return rebuildPayments(deps, { since: sinceOf(raisedAt), runId, tell });
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
      const runId = report.runId ?? ownRun();
      if (report.runId === undefined) await keepReport(deps.db, runId, report);
      const watermark = await withHeartbeat(
        async (tell) => {
          await closeAgain(deps, tell);
          const kept = await readKeptWatermark(deps.temporal.workflow);
          return resume(deps.db, operationId, { kept: kept ?? 0, runId, report, done }, tell);
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

/** The run that this activity belongs to: its id stays through all tries. */
function ownRun(): string {
  return Context.current().info.workflowExecution?.runId ?? 'none';
}

/** The run whose rows hold rentals; those that an earlier release told themselves become rows of this one. */
async function runOf(
  db: Database,
  found: string | readonly EndedRental[],
  limits: readonly ChangedLimit[],
): Promise<string> {
  if (typeof found === 'string') return found;
  await keepReport(db, ownRun(), { ended: found, limits });
  return ownRun();
}

/** Does something with each item of a run that is not done yet, and notes in the same transaction that it is. */
async function eachUndone<K extends 'ended' | 'limit'>(
  db: Database,
  kind: K,
  { runId, failed, tell }: { readonly runId: string; readonly failed: FailedItems; readonly tell: Tell },
  work: (trx: Database, item: RestoreItems[K]) => Promise<void>,
): Promise<void> {
  let done = 0;
  for await (const { id, item } of eachItem(db, { runId, kind }, { undone: true })) {
    await failed.unlessItFails(id, () =>
      db.transaction(async (trx) => {
        await work(trx, item);
        await noteDone(trx, runId, kind, id);
      }),
    );
    done += 1;
    tell({ [kind]: done });
  }
}
