import type { RentalId } from '../../../domain/ids.js';
import type { RentedGpus } from '../../../domain/machines/proof.js';
import type { SoftwareOutline } from '../../../domain/rentals/software.js';
import type { RentalStatus } from '../../../domain/rentals/rental.js';
import type { Database } from '../database.js';
import type { PodRow } from '../rows/tables.js';
import { firstProofSql } from './proofs.js';

/** A rental whose machine is awaited, with what the watcher last saw of the machine. */
export interface AwaitedRental extends RentedGpus {
  readonly rentalId: RentalId;
  readonly providerCode: string;
  readonly tag: string;
  readonly status: RentalStatus;
  readonly stopRequested: boolean;
  /** Milliseconds since its machine was asked for. */
  readonly waitedMs: number;
  /** The limit of that wait; null for a machine of release 0.1. */
  readonly deadlineMs: number | null;
  /** null before the first list showed it. */
  readonly pod: Pick<PodRow, 'status' | 'upstream_status' | 'host' | 'port' | 'username' | 'ports'> | null;
  /** null: a template alone, which SSH enters. */
  readonly software: SoftwareOutline | null;
  /** Milliseconds since a list first showed its machine active; null before. */
  readonly activeMs: number | null;
  /** Whether its machine was given a way to tell how its GPUs are, and what it told first; null: nothing yet. */
  readonly canReport: boolean;
  readonly proof: string | null;
  /** Another live machine is shown at the same address: it is unknown whose daemon answers there. */
  readonly sharesAddress: boolean;
  /** The upstream said so itself, or its lists show the machine no more. */
  readonly lost: boolean;
}

/** Reads awaited rentals, all in one statement: a thousand of them cost the database one statement each poll. */
export async function readAwaitedRentals(
  db: Database,
  rentalIds: readonly RentalId[],
): Promise<Map<RentalId, AwaitedRental>> {
  const { rows } = await db.raw<{ rows: AwaitedRental[] }>(
    `select r.id as "rentalId", r.provider_code as "providerCode", r.tag, r.model, r.gpu_count as "gpuCount", r.status, s.rental_no is not null as "stopRequested",
            epoch_ms(clock_ms()) - epoch_ms(coalesce(a.created_at, r.started_at)) as "waitedMs",
            a.deadline_ms as "deadlineMs",
            case when p.pod_id is not null then jsonb_build_object(
              'status', p.status, 'upstream_status', p.upstream_status, 'host', p.host, 'port', p.port,
              'username', p.username, 'ports', p.ports) end as pod,
            r.software, epoch_ms(clock_ms()) - epoch_ms(p.active_at) as "activeMs",
            exists (select 1 from machine_tokens t where t.attempt_id = a.id and t.purpose = 'report') as "canReport",
            ${firstProofSql('a.id')} as proof,
            exists (select 1 from pods o where o.host = p.host and o.port = p.port and o.gone_at is null
                       and (o.provider_code, o.pod_id) <> (p.provider_code, p.pod_id)) as "sharesAddress",
            coalesce(p.status in ('lost', 'ending') or p.gone_at is not null, false) as lost
       from rentals r
       left join allocation_attempts a on a.tag = r.tag
       left join stop_requests s on s.rental_no = r.no
       left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
      where r.id = any (:rentalIds::text[])`,
    { rentalIds: [...rentalIds] },
  );
  return new Map(rows.map((row) => [row.rentalId, row]));
}

/**
 * Tells whether an address is another live machine's as well, so that it is unknown whose port answers there. One whose
 * upstream maps no ports has all of its address.
 */
export async function isSharedAddress(
  db: Database,
  rentalId: RentalId,
  { host, port }: { readonly host: string | null; readonly port: number | null },
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { shared: boolean }[] }>(
    `select exists (
       select 1 from pods o join rentals r on r.id = :rentalId
        where o.gone_at is null and (o.provider_code, o.pod_id) is distinct from (r.provider_code, r.pod_id)
          and (o.host = :host and (o.port = :port::int or o.ports is null)
               or o.ports @> jsonb_build_array(jsonb_build_object('host', :host::text, 'hostPort', :port::int)))
     ) as shared`,
    { rentalId, host, port },
  );
  return rows[0]?.shared ?? true;
}
