import { beginEpoch } from '../ledger/roots.js';
import type { SessionEndedBy } from '../../../domain/events/events.js';
import { isId, type OperationId, type RentalId, type UserId } from '../../../domain/ids.js';
import type { LastUse } from '../../../domain/operations/lost-time.js';
import type {
  ChangedLimit,
  EndedRental,
  Reconciled,
  RestoreReport,
} from '../../../domain/operations/restore.js';
import type { FindingKind } from '../../../domain/operations/reconcile.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Operation } from '../../../domain/operations/operation.js';
import type { Payment } from '../../processor/processor.js';
import type { Database, Transaction } from '../database.js';
import { readClock } from '../clock.js';
import { stepOverLostEvents } from '../events/sequence.js';
import { operatorsOf } from '../operators/operator-orders.js';
import type { OperatorOrderRow, RentalRow, UnknownPodRow } from '../rows/tables.js';

/** Lists a page of the rentals to which something is still owed here, by their numbers. */
export async function listLiveRentals(
  db: Database,
  { afterNo, limit }: { readonly afterNo: number; readonly limit: number },
): Promise<Pick<RentalRow, 'no' | 'id' | 'status'>[]> {
  return db('rentals')
    .whereNull('closed_at')
    .where('no', '>', afterNo)
    .orderBy('no')
    .limit(limit)
    .select('no', 'id', 'status');
}

/** Reads what this database has last seen of a rental's use; undefined when it is settled, or its billing has ended. */
export async function readLastUse(db: Database, id: RentalId): Promise<LastUse | undefined> {
  const { rows } = await db.raw<{ rows: LastUse[] }>(
    `select r.running_at as "runningAt", r.price_per_hour_cents as "pricePerHourCents",
            r.max_spend_cents as "maxSpendCents", r.charged_cents as "chargedCents",
            least(r.auto_stop_at, r.spend_limit_at) as "limitAt"
       from rentals_now r
      where r.id = :id and r.status in ('provisioning', 'running')`,
    { id },
  );
  return rows[0];
}

/** Returns those of the given ids whose rentals exist here. */
export async function findRentalIds(db: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>('select id from rentals where id = any (?)', [
    [...ids],
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Returns those of the given tags whose attempt is known here, and the rental of that attempt as well. */
export async function findOwnedTags(db: Database, tags: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.raw<{ rows: { tag: string }[] }>(
    `select a.tag from allocation_attempts a where a.tag = any (?)
        and (a.state not in ('open', 'condemned') or exists (select 1 from rentals r where r.id = a.rental_id))`,
    [[...tags]],
  );
  return new Set(rows.map(({ tag }) => tag));
}

/**
 * Ends a rental at the instant at which it ended in the lost time; an earlier end stays. Until that instant its machine
 * counts as alive: this database's lists are from before the backup and know nothing of it. Metering charges it up to
 * then once it resumes, and its workflow is told to look.
 * @param reason the operator's reason to reconcile; a stop of the user's own needs none
 */
export async function endAtPast(
  db: Database,
  { rentalId, endedAt: at, by = 'operator' }: Pick<EndedRental, 'rentalId' | 'endedAt' | 'by'>,
  reason: string,
): Promise<void> {
  await db.transaction(async (trx) => {
    const hasRun = await trx('rentals').where({ id: rentalId }).whereNotNull('running_at').first('id');
    // One that never ran here has neither a limit to reach nor a machine to lose.
    const isLost = by === 'lost' && hasRun !== undefined;
    await trx.raw(
      `update pods p set last_alive_at = greatest(p.last_alive_at, :at::timestamptz),
              gone_at = case when :isLost::boolean then coalesce(p.gone_at, clock_ms()) else p.gone_at end
         from rentals r
        where r.id = :rentalId and p.provider_code = r.provider_code and p.pod_id = r.pod_id`,
      { rentalId, at, isLost },
    );
    if (by === 'limit' && hasRun) await lowerLimit(trx, { rentalId, there: at });
    else if (!isLost) await stopAtPast(trx, { rentalId, at, by, reason });
    await trx.raw(
      `insert into intents (kind, wallet_id, rental_no)
       select case when :isLost::boolean then 'pod_lost' else 'end_rental' end, wallet_id, no
         from rentals where id = :rentalId and settled_at is null
       on conflict do nothing`,
      { rentalId, isLost },
    );
  });
}

async function stopAtPast(
  trx: Transaction,
  { rentalId, at, by, reason }: { rentalId: RentalId; at: string; by: string; reason: string },
): Promise<void> {
  const byUser = by === 'user';
  await trx.raw(
    `insert into stop_requests (rental_no, requested_by, requested_at, reason)
     select no, :by, :at::timestamptz, :reason::text from rentals where id = :rentalId and settled_at is null
     on conflict (rental_no) do update set requested_at = least(stop_requests.requested_at, excluded.requested_at)
      where stop_requests.open`,
    { rentalId, at, by: byUser ? 'user' : 'operator', reason: byUser ? null : reason },
  );
}

/** Lets a limit hold again that was lowered in the lost time; an earlier one stays. */
export async function lowerLimit(
  db: Database | Transaction,
  { rentalId, there }: Pick<ChangedLimit, 'rentalId' | 'there'>,
): Promise<void> {
  await db.raw(
    `update rentals set auto_stop_at = least(auto_stop_at, greatest(:there::timestamptz, running_at))
      where id = :rentalId and status in ('provisioning', 'running')`,
    { rentalId, there },
  );
}

/**
 * Finds the user of a payment whose top-up this database has lost; undefined when it has not lost it, or knows no such
 * user.
 */
export async function findLostTopupsUser(
  db: Database | Transaction,
  { topupId, userId }: Pick<Payment, 'topupId' | 'userId'>,
): Promise<UserId | undefined> {
  if (topupId === null || !isId('top', topupId) || userId === null || !isId('usr', userId)) return undefined;
  if (await db('topups').where({ id: topupId }).first('id')) return undefined;
  return (await db('users').where({ id: userId }).first('id'))?.id;
}

/**
 * Writes the row of a lost top-up, so that its payment can be credited to it. How it was paid is lost. For an amount
 * that no top-up may have it writes no row: the payment is credited to its user then.
 */
export async function insertLostTopup(
  db: Database | Transaction,
  topup: {
    readonly topupId: string;
    readonly userId: UserId;
    readonly amountCents: number;
    readonly chargedAt: Date | null;
  },
): Promise<void> {
  await db.raw(
    `insert into topups (id, user_id, wallet_id, amount_cents, status, source, created_at)
     select :topupId, :userId, w.id, :amountCents, 'creating', 'checkout', coalesce(:chargedAt::timestamptz, clock_ms())
       from wallets w where w.user_id = :userId and :amountCents::int between 100 and 500000
     on conflict (id) do nothing`,
    topup,
  );
}

/**
 * Reads the order by which an operator lets a restored database go on (decision 87, "Operator orders").
 * @throws Refusal when there is none, or it has ended otherwise
 */
export async function getReconcileOrder(
  db: Database | Transaction,
  id: OperationId,
): Promise<OperatorOrderRow> {
  const order = await db('operator_orders').where({ id, kind: 'reconcile_restored' }).first();
  if (!order) {
    throw new Refusal('not_found', `There is no order ${id} to reconcile. Run ops restore reconcile again.`);
  }
  if (order.closed_at !== null && order.status !== 'done') {
    throw new Refusal('validation_failed', `${id} is ${order.status}.`);
  }
  return order;
}

/**
 * Lets a restored database go on. It keeps unknown machines for a human, steps over the numbers that were given in the
 * lost time, ends the sessions that came back, confirms the database above Temporal's watermark, lifts the brake and
 * records who did it. It may run again.
 * @param of the run whose rows hold what was found, beside the report that names the first of it
 * @param tell told after each batch of sessions, and of feeds
 * @returns the new watermark
 */
export async function resume(
  db: Database,
  operationId: OperationId,
  {
    kept,
    runId,
    report,
    done,
  }: {
    readonly kept: number;
    readonly runId: string;
    readonly report: RestoreReport;
    readonly done: Omit<Reconciled, 'watermark'>;
  },
  tell: (detail: { readonly endedSessions: number } | { readonly steppedFeeds: number }) => void = () =>
    undefined,
): Promise<number> {
  const { status, requested_at } = await getReconcileOrder(db, operationId);
  if (status !== 'done') {
    await db.raw('select step_over_lost_numbers()');
    await endRestoredSessions(db, tell);
    await stepOverLostEvents(db, requested_at, tell);
  }
  return db.transaction(async (trx) => {
    await trx.raw(
      `insert into unknown_pods (provider_code, pod_id, tag, listed_at)
       select item ->> 'providerCode', item ->> 'podId', item ->> 'tag', clock_ms()
         from restore_items where run_id = :runId and kind = 'pod'
       on conflict (provider_code, pod_id) do nothing`,
      { runId },
    );
    const order = await getReconcileOrder(trx, operationId);
    if (order.status !== 'done') await beginEpoch(trx);
    const [row] = await trx('watermark')
      .update({
        value: trx.raw('greatest(value, ?::bigint) + 1', [kept]),
        raised_at: trx.raw('clock_ms()'),
        confirmed_as: trx.raw('database_incarnation(tableoid)'),
        lineage: trx.raw('database_lineage()'),
        doubted_at: null,
      })
      .returning('value');
    if (!row) throw new Error('the watermark row is missing');
    await trx('witnesses').delete();
    await trx('brakes').where({ kind: 'restored' }).delete();
    if (order.status !== 'done') {
      await recordDifferences(trx, runId);
      await recordResume(trx, order, report, { ...done, watermark: row.value });
    }
    return row.value;
  });
}

/**
 * Ends all sessions that a restored database brought back: some of them had been ended since, because they were stolen.
 * Those that were begun while the brake was pulled stay. Until then they live, so that users can stop their machines:
 * no mail leaves, so nobody could sign in by a code. Each batch is a transaction, told and ended together: there may be
 * more of them than a statement has time for.
 */
export async function endRestoredSessions(
  db: Database,
  tell: (detail: { readonly endedSessions: number }) => void,
  batch = 5_000,
): Promise<void> {
  const brake = await db('brakes').where({ kind: 'restored' }).first('pulled_at');
  const until = brake?.pulled_at ?? (await readClock(db));
  for (let endedSessions = 0; ;) {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `with ended as (
         delete from sessions
          where id = any (array(select id from sessions where created_at <= :until order by id limit :batch))
         returning user_id, id
       )
       insert into event_outbox (user_id, type, entity_id, data)
       select user_id, 'session.ended', id, jsonb_build_object('by', :by::text) from ended order by id`,
      { until, batch, by: 'restored' satisfies SessionEndedBy },
    );
    endedSessions += rowCount;
    tell({ endedSessions });
    if (rowCount < batch) return;
  }
}

/**
 * Keeps a finding of each bill that is not what its user was shown. No comparison finds it again, so none resolves it:
 * it stands until an operator acknowledges it.
 */
async function recordDifferences(trx: Transaction, runId: string): Promise<void> {
  await trx.raw(
    `with differing as (
       select item from restore_items where run_id = :runId and kind = 'ended' and item -> 'differs' is not null
     ), run as (
       insert into reconcile_runs (scope, finished_at)
       select 'full', clock_ms() where exists (select 1 from differing) returning id
     )
     insert into reconcile_findings (kind, source, subject, subject_ids, evidence, first_run_id, last_run_id)
     select :kind, 'restore', item ->> 'rentalId', jsonb_build_object('rentalId', item -> 'rentalId'),
            (item -> 'differs') || jsonb_build_object('endedAt', item -> 'endedAt', 'by', item -> 'by'), run.id, run.id
       from run, differing
     on conflict (kind, subject) where state <> 'resolved' do nothing`,
    { runId, kind: 'restored_bill_differs' satisfies FindingKind },
  );
}

async function recordResume(
  trx: Transaction,
  order: OperatorOrderRow,
  report: RestoreReport,
  done: Reconciled,
): Promise<void> {
  const { id, kind, reason } = order;
  await trx('operator_actions').insert({
    id,
    kind,
    reason,
    operator: operatorsOf(order),
    request: JSON.stringify(report),
    result: JSON.stringify(done),
  });
  const { endedRentals, more, listedPods, watermark } = done;
  const credited = done.credited.length + (more?.credited ?? 0);
  const parked = done.parked.length + (more?.parked ?? 0);
  const result = { endedRentals, credited, parked, listedPods, watermark };
  await trx('operator_orders')
    .where({ id })
    .update({ status: 'done', result: JSON.stringify(result) as never });
}

/** Lists machines that a restored database did not know and that nobody has released yet. */
export async function listUnknownPods(db: Database | Transaction): Promise<UnknownPodRow[]> {
  const { rows } = await db.raw<{ rows: UnknownPodRow[] }>(
    `select u.* from unknown_pods u
       left join pods p on p.provider_code = u.provider_code and p.pod_id = u.pod_id
      where u.released_at is null and p.gone_at is null
      order by u.provider_code, u.pod_id`,
  );
  return rows;
}

/**
 * Releases machines that a human has decided about: the sweeper ends them.
 * @returns how many
 */
export async function releaseUnknownPods(
  db: Database | Transaction,
  podIds: readonly string[],
  by: Pick<Operation, 'operator' | 'reason'>,
): Promise<number> {
  return db('unknown_pods')
    .whereIn('pod_id', [...podIds])
    .whereNull('released_at')
    .update({ released_at: db.raw('clock_ms()'), released_by: by.operator, released_why: by.reason });
}
