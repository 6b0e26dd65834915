import { findingKinds, type FindingKind, type FindingState } from '../../../domain/operations/reconcile.js';
import type { UserId } from '../../../domain/ids.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import type { Database, Transaction } from '../database.js';
import type { ReconcileFindingRow } from '../rows/tables.js';

/** Lists findings in these states, the oldest first. */
export async function listFindings(
  db: Database,
  states: readonly FindingState[],
  limit: number,
): Promise<ReconcileFindingRow[]> {
  return db('reconcile_findings')
    .whereIn('state', [...states])
    .orderBy('id')
    .limit(limit);
}

/** Lists users with a standing finding about their ledger. */
export async function listUsersWithLedgerFindings(db: Database): Promise<UserId[]> {
  const rows = await db('reconcile_findings')
    .where({ source: 'ledger' })
    .whereNot({ state: 'resolved' })
    .whereNot({ kind: 'root_broken' })
    .distinct<{ user: UserId }[]>(db.raw(`subject_ids->>'userId' as "user"`));
  return rows.map(({ user }) => user);
}

/** Lists the numbers of the roots of the ledger's proof about which a finding stands. */
export async function listRootsWithFindings(db: Database): Promise<number[]> {
  const { rows } = await db.raw<{ rows: { root: number }[] }>(
    `select distinct (subject_ids->>'root')::int as root from reconcile_findings
      where kind = 'root_broken' and state <> 'resolved' order by root`,
  );
  return rows.map(({ root }) => root);
}

/** Something that is not compared, and so is not known to be right. */
export interface Gap {
  readonly source: string;
  /** The instant up to which it was compared. */
  readonly since: Date;
  readonly why: string;
}

/** Lists the error bar: what could not be compared, or not in full for two days, and since when. */
export async function listGaps(db: Database | Transaction): Promise<Gap[]> {
  const { rows } = await db.raw<{ rows: Gap[] }>(
    `select source, coalesce(compared_until, first_tried_at) as since, failing_why as why
       from reconcile_sources where failing_since is not null
     union all
     select source, coalesce(full_at, first_tried_at), 'compared by windows only: the full run did not come through'
       from reconcile_sources
      where failing_since is null
        and coalesce(full_at, first_tried_at) < clock_ms() - :overdueMs * interval '1 millisecond'
      order by 1`,
    { overdueMs: operationLimits.reconcileFullOverdueMs },
  );
  return rows;
}

/**
 * Notes that an operator knows of a finding: it raises no alarm any more, until it is resolved and comes back.
 * @returns what it is now; undefined when there is no such finding, or it is resolved
 */
export async function acknowledgeFinding(
  db: Database | Transaction,
  id: number,
  by: string,
  why: string,
): Promise<ReconcileFindingRow | undefined> {
  const [row] = await db('reconcile_findings')
    .where({ id })
    .whereNot({ state: 'resolved' })
    .update({
      state: 'acknowledged',
      acknowledged_at: db.raw('clock_ms()'),
      acknowledged_by: by,
      acknowledged_why: why,
    })
    .returning('*');
  return row;
}

/** The figures of reconcile for a metrics endpoint. */
export interface ReconcileFigures {
  /** Every kind, also one with no findings. */
  readonly findings: readonly {
    readonly kind: FindingKind;
    readonly open: number;
    readonly acknowledged: number;
  }[];
  /** The error bar, in seconds: the age of the newest moment up to which all was compared. */
  readonly sources: readonly {
    readonly source: string;
    readonly uncomparedSeconds: number;
    readonly failing: boolean;
  }[];
  /** Seconds since the last run ended; null before the first. */
  readonly lastRunSeconds: number | null;
}

/** Reads the open findings per kind, and how long each source was not compared. */
export async function reconcileFigures(db: Database | Transaction): Promise<ReconcileFigures> {
  const { rows: counts } = await db.raw<{ rows: { kind: string; open: number; acknowledged: number }[] }>(
    `select kind, count(*) filter (where state = 'open') as open,
            count(*) filter (where state = 'acknowledged') as acknowledged
       from reconcile_findings where state <> 'resolved' group by kind`,
  );
  const { rows: sources } = await db.raw<{ rows: ReconcileFigures['sources'][number][] }>(
    `select source, greatest(0, extract(epoch from clock_ms() - coalesce(compared_until, first_tried_at)))::bigint
              as "uncomparedSeconds",
            failing_since is not null as failing
       from reconcile_sources order by source`,
  );
  const { rows: last } = await db.raw<{ rows: { seconds: number | null }[] }>(
    `select extract(epoch from clock_ms() - max(finished_at))::bigint as seconds from reconcile_runs`,
  );
  const known = Object.keys(findingKinds) as FindingKind[];
  return {
    findings: known.map((kind) => {
      const row = counts.find((count) => count.kind === kind);
      return { kind, open: row?.open ?? 0, acknowledged: row?.acknowledged ?? 0 };
    }),
    sources,
    lastRunSeconds: last[0]?.seconds ?? null,
  };
}
