import { endByOf } from '../../../domain/rentals/dead-mans-switch.js';
import type { Database, Transaction } from '../database.js';
import { burnSql } from './meter-reads.js';

/**
 * Returns when an upstream shall end a new pod by itself, in case this service is gone: when the wallet's money ends.
 * @param addedPerHourCents the price of the new pod, which no meter counts yet
 */
export async function paidUntil(
  db: Database | Transaction,
  walletId: number,
  addedPerHourCents: number,
): Promise<Date> {
  const { rows } = await db.raw<{ rows: { funds: number; burn: number; now_ms: number }[] }>(
    `select w.available_cents + w.reserved_cents as funds, epoch_ms(clock_ms()) as now_ms,
            ${burnSql('w')} as burn
       from wallets w where w.id = ?`,
    [walletId],
  );
  const [row] = rows;
  if (!row) throw new Error(`no wallet ${walletId}`);
  return endByOf(row.funds, row.burn + addedPerHourCents, row.now_ms);
}

/** A running machine with the money that pays for it. */
export interface PaidPod {
  readonly podId: string;
  readonly attemptId: number;
  /** The end date that its upstream has; null for none. */
  readonly endBy: Date | null;
  readonly fundsCents: number;
  readonly burnPerHourCents: number;
  readonly nowMs: number;
}

/** Lists the running machines at an upstream, those with the earliest date first. */
export async function listPaidPods(db: Database, providerCode: string): Promise<PaidPod[]> {
  const { rows } = await db.raw<{ rows: PaidPod[] }>(
    `select a.pod_id as "podId", a.id as "attemptId", a.end_by as "endBy",
            w.available_cents + w.reserved_cents as "fundsCents", epoch_ms(clock_ms()) as "nowMs",
            ${burnSql('w')} as "burnPerHourCents"
       from rentals r
       join allocation_attempts a on a.tag = r.tag and a.state = 'adopted' and a.pod_id is not null
       join wallets w on w.id = r.wallet_id
      where r.closed_at is null and r.status = 'running' and r.provider_code = :providerCode
      order by a.end_by nulls first`,
    { providerCode },
  );
  return rows;
}

export async function recordEndBy(db: Database, attemptId: number, endBy: Date): Promise<void> {
  await db('allocation_attempts').where({ id: attemptId }).update({ end_by: endBy });
}
