import { spreadOf } from '../../../domain/catalog/reliability.js';
import { progressOf, type Progress } from '../../../domain/rentals/progress.js';
import type { AttemptState, RentalRow } from '../rows/tables.js';

/** The facts from which a rental's progress is told (decision 106, "Progress and reliability"). */
export interface ProgressColumns {
  readonly read_at: Date;
  readonly stop_asked: boolean;
  /** The newest purchase; null when the rental is over, or when the purchase's row has served its time. */
  readonly attempt: number | null;
  readonly attempt_state: AttemptState | null;
  readonly attempt_created_at: Date | null;
  readonly attempt_changed_at: Date | null;
  readonly attempt_given_up_at: Date | null;
  readonly attempt_answered_at: Date | null;
  /** When a list first showed the machine active. */
  readonly machine_active_at: Date | null;
  /** How long such machines take. */
  readonly ready_samples: number | null;
  readonly ready_p50_seconds: number | null;
  readonly ready_p90_seconds: number | null;
}

/**
 * SQL of these columns, on the aliases `r` (rentals_now), `p` (pods) and those of `progressJoins`. A machine that a
 * worker of release 0.1 saw become active has no instant for it.
 */
export const progressColumns = `clock_ms() as read_at,
  r.status in ('provisioning', 'running') and exists (select 1 from stop_requests s where s.rental_no = r.no) as stop_asked,
  a.attempt, a.state as attempt_state, a.created_at as attempt_created_at, a.changed_at as attempt_changed_at,
  a.given_up_at as attempt_given_up_at, a.answered_at as attempt_answered_at,
  coalesce(p.active_at, case p.status when 'active' then p.first_seen_at end) as machine_active_at,
  q.created as ready_samples, q.ready_p50_seconds, q.ready_p90_seconds`;

/** What is over is not looked up: a list of old rentals costs no more for it. */
export const progressJoins = `left join lateral (
    select * from allocation_attempts
     where rental_id = r.id and r.status in ('provisioning', 'running')
     order by attempt desc limit 1) a on true
  left join reliability q
    on r.status = 'provisioning' and q.provider_code = r.provider_code and q.family = r.family`;

/** Returns how far a rental was when it was read. */
export function progressIn(
  row: Pick<RentalRow, 'status' | 'started_at' | 'running_at'> & ProgressColumns,
): Progress {
  const { attempt, attempt_state: state, attempt_created_at: createdAt, attempt_changed_at: changedAt } = row;
  const isKnown = attempt !== null && state !== null && createdAt !== null && changedAt !== null;
  return progressOf({
    status: row.status,
    isStopAsked: row.stop_asked,
    startedAt: row.started_at,
    runningAt: row.running_at,
    purchase: isKnown
      ? {
          attempt,
          state,
          createdAt,
          changedAt,
          givenUpAt: row.attempt_given_up_at,
          answeredAt: row.attempt_answered_at,
        }
      : null,
    activeAt: row.machine_active_at ?? undefined,
    readiness: spreadOf(row.ready_samples ?? 0, row.ready_p50_seconds, row.ready_p90_seconds),
    now: row.read_at,
  });
}
