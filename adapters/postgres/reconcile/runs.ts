import { operationLimits } from '../../../domain/operations/limits.js';
import type {
  Finding,
  ReconcileReport,
  ReconcileScope,
  ReconcileSource,
} from '../../../domain/operations/reconcile.js';
import type { Database, Transaction } from '../database.js';
import { tellOperators } from './mails.js';

/** Opens a run. */
export async function beginRun(db: Database, scope: ReconcileScope): Promise<number> {
  const [run] = await db('reconcile_runs').insert({ scope }).returning('id');
  if (!run) throw new Error('inserting a run of reconcile answered no row');
  return run.id;
}

/**
 * Returns the instant from which a run compares a source: two hours back and an overlap, but never later than the end
 * of the comparison before, so that an outage leaves no gap. A full run, and a source that was never compared, begin
 * with the first user: an account's earlier transactions are nobody's money here.
 */
export async function compareFrom(
  db: Database,
  source: ReconcileSource,
  scope: ReconcileScope,
): Promise<{ from: Date; now: Date }> {
  const { rows } = await db.raw<{ rows: { from: Date; now: Date }[] }>(
    `select case when :isFull::boolean or s.compared_until is null
                 then coalesce((select min(created_at) from users), clock_ms()) - interval '1 minute'
                 else least(clock_ms() - :windowMs * interval '1 millisecond', s.compared_until)
                      - :overlapMs * interval '1 millisecond' end as "from",
            clock_ms() as now
       from (select 1) one left join reconcile_sources s on s.source = :source`,
    {
      source,
      isFull: scope === 'full',
      windowMs: operationLimits.reconcileWindowMs,
      overlapMs: operationLimits.reconcileOverlapMs,
    },
  );
  const row = rows[0];
  if (!row) throw new Error('the database did not tell from when on to compare');
  return row;
}

export interface ComparisonResult {
  readonly runId: number;
  readonly source: ReconcileSource;
  readonly scope: ReconcileScope;
  readonly findings: readonly Finding[];
  /** The instant up to which everything was compared. */
  readonly until: Date;
  /** Why it was not compared in full; null when it was. */
  readonly why: string | null;
}

/**
 * Writes down the findings of one comparison. A finding that it did not find again is resolved, but only if all was
 * compared.
 */
export async function recordComparison(db: Database, result: ComparisonResult): Promise<void> {
  const { runId, source, findings, why } = result;
  await db.transaction(async (trx) => {
    await upsertFindings(trx, runId, source, findings);
    if (why !== null) return recordGap(trx, source, why);
    await trx.raw(
      `update reconcile_findings f set state = 'resolved', resolved_at = clock_ms()
         from reconcile_runs r
        where r.id = :runId and f.source = :source and f.state <> 'resolved' and f.last_seen_at < r.started_at`,
      { runId, source },
    );
    await trx.raw(
      `insert into reconcile_sources (source, compared_until, full_at)
       values (:source, :until::timestamptz, case when :isFull::boolean then :until::timestamptz end)
       on conflict (source) do update set
         compared_until = greatest(reconcile_sources.compared_until, excluded.compared_until),
         full_at = greatest(reconcile_sources.full_at, excluded.full_at),
         failing_since = null, failing_why = null`,
      { source, until: result.until, isFull: result.scope === 'full' },
    );
  });
}

/** Keeps each finding by its kind and subject, once while it stands; an acknowledged finding stays acknowledged. */
async function upsertFindings(
  trx: Transaction,
  runId: number,
  source: ReconcileSource,
  findings: readonly Finding[],
): Promise<void> {
  const rows = [...new Map(findings.map((one) => [`${one.kind} ${one.subject}`, one])).values()];
  await trx.raw(
    `insert into reconcile_findings (kind, source, subject, subject_ids, evidence, first_run_id, last_run_id)
     select x.kind, :source, x.subject, x."subjectIds", x.evidence, :runId, :runId
       from jsonb_to_recordset(:findings::jsonb) as x (kind text, subject text, "subjectIds" jsonb, evidence jsonb)
      order by x.kind, x.subject
     on conflict (kind, subject) where state <> 'resolved' do update set
       subject_ids = excluded.subject_ids, evidence = excluded.evidence, last_run_id = excluded.last_run_id,
       last_seen_at = clock_ms()`,
    { source, runId, findings: JSON.stringify(rows) },
  );
}

/** Notes that a source can't be compared, or not wholly: since when, and the present reason. */
export async function recordGap(
  db: Database | Transaction,
  source: ReconcileSource,
  why: string,
): Promise<void> {
  await db.raw(
    `insert into reconcile_sources (source, failing_since, failing_why) values (:source, clock_ms(), :why)
     on conflict (source) do update set
       failing_since = coalesce(reconcile_sources.failing_since, clock_ms()), failing_why = excluded.failing_why`,
    { source, why: why.slice(0, 500) },
  );
}

/**
 * Closes a run: it removes the sources that no longer exist, and tells operators by one mail of all findings that they
 * have not been told.
 * @param sources all sources that exist now
 * @param operatorEmail null: findings are told in the log only
 */
export async function finishRun(
  db: Database,
  runId: number,
  sources: readonly ReconcileSource[],
  operatorEmail: string | null,
): Promise<ReconcileReport> {
  return db.transaction(async (trx) => {
    await trx('reconcile_sources')
      .whereNotIn('source', [...sources])
      .delete();
    const fresh = await tellOperators(trx, runId, operatorEmail);
    await trx('reconcile_runs')
      .where({ id: runId })
      .update({ finished_at: trx.raw('clock_ms()') });
    const { rows } = await trx.raw<{ rows: Omit<ReconcileReport, 'runId' | 'fresh'>[] }>(
      `select count(*) filter (where state = 'open') as open,
              count(*) filter (where state = 'acknowledged') as acknowledged,
              (select count(*) from reconcile_sources where failing_since is not null) as "notCompared"
         from reconcile_findings where state <> 'resolved'`,
    );
    const counts = rows[0];
    if (!counts) throw new Error('counting the findings answered no row');
    return { runId, fresh, ...counts };
  });
}
