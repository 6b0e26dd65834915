import type { RentalId } from '../../../domain/ids.js';
import { dearerMachinesMail } from '../../../domain/mails/operators.js';
import type { Provider } from '../../providers/provider.js';
import type { Database } from '../database.js';
import { recordNotice } from '../operators/operator-notices.js';

/** So many machines are named in a mail. */
const NAMED = 20;

interface Dearer {
  readonly rentalId: RentalId;
  readonly costCents: number;
  readonly agreedCents: number;
  /** Of all of them. */
  readonly machines: number;
  readonly lossCents: number;
  readonly day: string;
}

/**
 * Notes, once a day while it lasts, that running machines of an upstream cost more, by its lists, than their rentals pay
 * and their disks may cost: it has raised its prices since.
 */
export async function noteDearerMachines(
  db: Database,
  { code: provider, diskPrice }: Pick<Provider, 'code' | 'diskPrice'>,
): Promise<void> {
  const { rows } = await db.raw<{ rows: Dearer[] }>(
    `select r.id as "rentalId", p.price_per_hour_cents as "costCents", r.price_per_hour_cents as "agreedCents",
            count(*) over () as machines,
            sum(p.price_per_hour_cents - r.price_per_hour_cents) over ()::bigint as "lossCents",
            to_char(clock_ms() at time zone 'UTC', 'YYYY-MM-DD') as day
       from rentals r join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
      where r.closed_at is null and r.status = 'running' and r.provider_code = :provider and p.gone_at is null
        and p.price_per_hour_cents > r.price_per_hour_cents
            + ceil(coalesce((r.software ->> 'diskGb')::float8, :usualGb) * :centsPerGbHour::float8)
      order by p.price_per_hour_cents - r.price_per_hour_cents desc, r.no limit :named`,
    { provider, usualGb: 0, centsPerGbHour: 0, ...diskPrice, named: NAMED },
  );
  const [first] = rows;
  if (!first) return;
  const { machines, lossCents, day } = first;
  await recordNotice(db, {
    cause: { kind: 'dearer_machines', provider, day },
    message: dearerMachinesMail({ provider, machines, lossCents, dearest: rows }),
  });
}
