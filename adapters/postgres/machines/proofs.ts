import type { ListingId, RentalId } from '../../../domain/ids.js';
import { claimLimits, type ListedHardware } from '../../../domain/machines/claims.js';
import { proofHeader, type RentedGpus, type Told } from '../../../domain/machines/proof.js';
import type { Database, Transaction } from '../database.js';
import type { BadMachineRow, RentalRow } from '../rows/tables.js';

/** What a running machine told that nobody has judged yet. */
export interface UnjudgedReport extends RentedGpus {
  readonly attemptId: number;
  readonly no: number;
  readonly body: string;
  readonly rentalNo: number;
  readonly walletId: number;
}

/** Lists what the running machines of an upstream told and nobody has judged, so many at most. */
export async function listUnjudged(
  db: Database,
  providerCode: string,
  most: number,
): Promise<UnjudgedReport[]> {
  const { rows } = await db.raw<{ rows: UnjudgedReport[] }>(
    `select m.attempt_id as "attemptId", m.no, m.body, r.no as "rentalNo", r.wallet_id as "walletId",
            r.model, r.gpu_count as "gpuCount"
       from machine_reports m
       join allocation_attempts a on a.id = m.attempt_id
       join rentals r on r.tag = a.tag
      where m.verdict is null and a.provider_code = :providerCode and r.status = 'running'
      order by m.attempt_id, m.no
      limit :most`,
    { providerCode, most },
  );
  return rows;
}

/**
 * Records what reports were judged to be. Each that is bad leaves an intent for its rental, so that its workflow ends it.
 * @returns how many new intents
 */
export async function recordVerdicts(
  db: Database,
  judged: readonly (UnjudgedReport & { readonly verdict: Told })[],
): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `with judged as materialized (
       select * from jsonb_to_recordset(:judged::jsonb)
         as x ("attemptId" bigint, no int, verdict text, "rentalNo" bigint, "walletId" bigint)
     ), written as (
       update machine_reports m set verdict = j.verdict
         from judged j where m.attempt_id = j."attemptId" and m.no = j.no
     )
     insert into intents (kind, wallet_id, rental_no)
     select distinct 'pod_lost', "walletId", "rentalNo" from judged where verdict = 'bad'
     on conflict do nothing`,
    { judged: JSON.stringify(judged) },
  );
  return rowCount;
}

/** The first word of a rental's machine that was judged bad, and all that is known of it beside. */
export interface FoundClaim {
  readonly attemptId: number;
  readonly body: string;
  readonly toldAt: Date;
  readonly listed: ListedHardware | null;
  readonly isKnownBad: boolean;
  readonly hasPaid: boolean;
}

/** Finds what a rental's running machine said of itself; undefined when it said nothing bad. */
export async function findClaim(
  trx: Transaction,
  rental: Pick<RentalRow, 'tag' | 'user_id'>,
): Promise<FoundClaim | undefined> {
  const { rows } = await trx.raw<{ rows: FoundClaim[] }>(
    `select m.attempt_id as "attemptId", m.body, m.received_at as "toldAt", p.hardware as listed,
            exists (select 1 from bad_machines f join rentals o on o.id = f.rental_id
                     where f.provider_code = a.provider_code and f.machine = p.hardware ->> 'machine'
                       and f.found_at > (select clock_ms()) - :othersMs * interval '1 millisecond'
                       and o.user_id <> :userId and ${hasPaidSql('o.user_id')}
                       and not exists (select 1 from account_ties mine join account_ties theirs using (kind, value)
                                        where mine.user_id = :userId and theirs.user_id = o.user_id)) as "isKnownBad",
            ${hasPaidSql(':userId')} as "hasPaid"
       from allocation_attempts a
       join machine_reports m on m.attempt_id = a.id and m.verdict = 'bad'
       left join pods p on p.provider_code = a.provider_code and p.tag = a.tag
      where a.tag = :tag
      order by m.no
      limit 1`,
    { tag: rental.tag, userId: rental.user_id, othersMs: claimLimits.othersMs },
  );
  return rows[0];
}

function hasPaidSql(userId: string): string {
  return `exists (select 1 from topups t where t.user_id = ${userId} and t.status = 'succeeded')`;
}

/** Records, once for each purchase, that its machine was called bad. */
export async function recordBadMachine(
  db: Database | Transaction,
  finding: Pick<BadMachineRow, 'faults' | 'outcome' | 'confirmed'> & {
    readonly rentalId: RentalId;
    readonly tag: string;
  },
): Promise<void> {
  await db.raw(
    `insert into bad_machines (attempt_id, rental_id, provider_code, machine, faults, outcome, confirmed)
     select a.id, a.rental_id, a.provider_code, coalesce(p.hardware ->> 'machine', l.host), :faults::text[], :outcome,
            :confirmed::boolean
       from allocation_attempts a
       left join listings l on l.id = a.listing_id
       left join pods p on p.provider_code = a.provider_code and p.tag = a.tag
      where a.rental_id = :rentalId and a.tag = :tag
     on conflict (attempt_id) do nothing`,
    { ...finding, faults: [...finding.faults] },
  );
}

/**
 * Reads what was wrong with the machine of a rental that was last called bad.
 * @param besideTag the machine of this tag does not count; absent: each does
 * @returns undefined when none was bad
 */
export async function readFaults(
  db: Database,
  rentalId: RentalId,
  besideTag = '',
): Promise<readonly string[] | undefined> {
  const row = await db('bad_machines as f')
    .join('allocation_attempts as a', 'a.id', 'f.attempt_id')
    .where('f.rental_id', rentalId)
    .whereNot('a.tag', besideTag)
    .orderBy('f.attempt_id', 'desc')
    .first<Pick<BadMachineRow, 'faults'> | undefined>('f.faults');
  return row?.faults;
}

/** Lists the offers that are on the hosts of a rental's bad machines. */
export async function listOffersOfBadHosts(db: Database, rentalId: RentalId): Promise<ListingId[]> {
  return db('bad_machines as f')
    .join('listings as l', { 'l.provider_code': 'f.provider_code', 'l.host': 'f.machine' })
    .where({ 'f.rental_id': rentalId, 'l.offered': true })
    .pluck<ListingId[]>('l.id');
}

/** SQL of the first report of a proof that an attempt's machine sent. @param attempt its id */
export function firstProofSql(attempt: string): string {
  return `(select m.body from machine_reports m
            where m.attempt_id = ${attempt} and starts_with(m.body, '${proofHeader}') order by m.no limit 1)`;
}
