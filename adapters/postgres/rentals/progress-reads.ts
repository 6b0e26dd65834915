import { spreadOf } from '../../../domain/catalog/reliability.js';
import { progressOf, type Progress } from '../../../domain/rentals/progress.js';
import type { Database, Transaction } from '../database.js';
import type { AllocationAttemptRow, RentalRow } from '../rows/tables.js';

/** The facts of a rental that waits for its machine (decision 106, "Progress and reliability"). */
export interface WaitingFacts {
  readonly rental_no: number;
  readonly read_at: Date;
  readonly stop_asked: boolean;
  /** The newest purchase; null when its row is not there. */
  readonly attempt: number | null;
  readonly attempt_state: AllocationAttemptRow['state'] | null;
  readonly attempt_created_at: Date | null;
  readonly attempt_changed_at: Date | null;
  readonly attempt_given_up_at: Date | null;
  readonly attempt_answered_at: Date | null;
  readonly attempt_launch_at: Date | null;
  /** When a list first showed the machine active. */
  readonly machine_active_at: Date | null;
  /** How long such machines take. */
  readonly ready_samples: number | null;
  readonly ready_p50_seconds: number | null;
  readonly ready_p90_seconds: number | null;
}

/**
 * Adds to rentals the facts of those that wait for their machines; null for all others. It asks the database only when
 * there are such: a rental that runs is polled for days, and costs no more for it.
 */
export async function withWaiting<Row extends Pick<RentalRow, 'no' | 'status'>>(
  db: Database | Transaction,
  rows: readonly Row[],
): Promise<(Row & { waiting: WaitingFacts | null })[]> {
  const waiting = rows.filter(({ status }) => status === 'provisioning').map(({ no }) => no);
  const facts = new Map(
    waiting.length === 0 ? [] : (await readWaiting(db, waiting)).map((each) => [each.rental_no, each]),
  );
  return rows.map((row) => ({ ...row, waiting: facts.get(row.no) ?? null }));
}

async function readWaiting(
  db: Database | Transaction,
  rentalNos: readonly number[],
): Promise<WaitingFacts[]> {
  const { rows } = await db.raw<{ rows: WaitingFacts[] }>(
    `select r.no as rental_no, clock_ms() as read_at,
            exists (select 1 from stop_requests s where s.rental_no = r.no) as stop_asked,
            a.attempt, a.state as attempt_state, a.created_at as attempt_created_at,
            a.changed_at as attempt_changed_at, a.given_up_at as attempt_given_up_at,
            a.answered_at as attempt_answered_at, a.launch_at as attempt_launch_at,
            p.active_at as machine_active_at,
            q.created as ready_samples, q.ready_p50_seconds, q.ready_p90_seconds
       from rentals r
       left join lateral (
         select * from allocation_attempts where rental_id = r.id order by attempt desc limit 1) a on true
       left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
       left join reliability q on q.provider_code = r.provider_code and q.family = r.family
      where r.no = any (:rentalNos::bigint[])`,
    { rentalNos: [...rentalNos] },
  );
  return rows;
}

/** Returns how far a rental was when it was read. */
export function progressIn(
  row: Pick<RentalRow, 'status' | 'started_at' | 'running_at'> & { readonly waiting: WaitingFacts | null },
): Progress {
  const { status, started_at: startedAt, running_at: runningAt, waiting } = row;
  return progressOf({
    ...{ status, startedAt, runningAt },
    isStopAsked: waiting?.stop_asked ?? false,
    purchase: waiting && purchaseIn(waiting),
    activeAt: waiting?.machine_active_at ?? undefined,
    readiness:
      waiting && spreadOf(waiting.ready_samples ?? 0, waiting.ready_p50_seconds, waiting.ready_p90_seconds),
    now: waiting?.read_at ?? startedAt,
  });
}

function purchaseIn(waiting: WaitingFacts) {
  const { attempt, attempt_state: state } = waiting;
  const { attempt_created_at: createdAt, attempt_changed_at: changedAt } = waiting;
  if (attempt === null || state === null || createdAt === null || changedAt === null) return null;
  const { attempt_given_up_at: givenUpAt, attempt_answered_at: answeredAt } = waiting;
  const { attempt_launch_at: launchAt } = waiting;
  return { attempt, state, createdAt, changedAt, givenUpAt, answeredAt, launchAt };
}
