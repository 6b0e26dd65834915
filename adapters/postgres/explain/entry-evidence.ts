import type { PodEvidence } from '../../../domain/ledger/explanation.js';
import type { Database, Transaction } from '../database.js';
import { findPodOfRental, type KnownPod } from '../machines/pods.js';
import type { RentalRow } from '../rows/tables.js';

/** Returns what is known of the machine that was paid for. */
export async function podEvidence(db: Database | Transaction, rental: RentalRow): Promise<PodEvidence> {
  const pod = await findPodOfRental(db, rental);
  return {
    provider: rental.provider_code,
    podId: rental.pod_id,
    tag: rental.tag,
    runningSince: rental.running_at,
    lastSeenAliveAt: pod ? await lastSeenAlive(db, pod) : null,
    upstreamStatus: pod?.row.upstream_status ?? null,
    goneAt: pod?.row.gone_at ?? rental.terminated_at,
    endedWhy: endedWhy(rental),
  };
}

/** The newest lists show a live pod; for any other pod the last such list was kept. */
async function lastSeenAlive(
  db: Database | Transaction,
  { row, lost, lastAliveAt }: KnownPod,
): Promise<Date | null> {
  if (lost || row.status !== 'active' || row.missing_lists > 0) return lastAliveAt;
  const provider = await db('providers').where({ code: row.provider_code }).first('pods_listed_at');
  return provider?.pods_listed_at ?? null;
}

function endedWhy({ status, stop_reason: reason, error }: RentalRow): string | null {
  const why = reason ?? (status === 'failed' ? 'failed' : null);
  return why === null || error === null ? why : `${why}: ${error}`;
}
