import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';

/** An event as its user gets it, without its number. */
export interface Told {
  readonly userId: string;
  readonly type: string;
  readonly entityId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Reads all events in the order in which they were told, whether they are numbered by now or still wait.
 * @param userId only those of this user
 */
export async function toldEvents(db: Database, userId?: string): Promise<Told[]> {
  const { rows } = await db.raw<{ rows: Told[] }>(
    `select user_id as "userId", type, entity_id as "entityId", data
       from (select 0 as waits, no, user_id, type, entity_id, data from events
             union all select 1, no, user_id, type, entity_id, data from event_outbox) told
      where coalesce(user_id = :userId, true)
      order by waits, no`,
    { userId: userId ?? null },
  );
  return rows;
}

/** The types of what was told about one entity, or of one user, in order. */
export async function toldTypes(db: Database, entityId: string): Promise<string[]> {
  const events = await toldEvents(db);
  return events.filter((event) => event.entityId === entityId).map(({ type }) => type);
}

/** What the events of one type told about one entity, in order. */
export async function toldData(db: Database, type: string, entityId: string): Promise<Told['data'][]> {
  const events = await toldEvents(db);
  return events.filter((event) => event.type === type && event.entityId === entityId).map(({ data }) => data);
}

/**
 * Asserts that what was told agrees with the rows, for everything in the database. The rules stand here once more, and
 * come from no code of the product. Rows that a test has written by itself, about which nothing was told and which no
 * request made, are left out.
 */
export async function assertToldAgrees(db: Database): Promise<void> {
  assert.deepEqual(await findDisagreements(db), [], 'what was told agrees with the rows');
}

async function findDisagreements(db: Database): Promise<string[]> {
  // One snapshot: the service may go on meanwhile.
  return db.transaction(
    async (trx) => {
      // The feed of an account that was closed is erased.
      if (await trx('account_closings').whereNotNull('erased_at').first('user_id')) return [];
      const told = await toldEvents(trx);
      const of = (id: string, noun: string) =>
        told.filter(({ entityId, type }) => entityId === id && type.startsWith(`${noun}.`));
      return [
        ...(await rentalFaults(trx, (id) => of(id, 'rental'))),
        ...(await topupFaults(trx, (id) => of(id, 'topup'))),
        ...(await invoiceFaults(trx, (id) => of(id, 'invoice'))),
        ...(await cardFaults(trx, (id) => of(id, 'card'))),
        ...(await creditFaults(trx)),
        ...(await sessionFaults(trx)),
      ];
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

type Of = (id: string) => Told[];

/** The way of a rental: each step once, in this order, some left out; a machine for each that was bad, and one more. */
const wayOfRental =
  /^(created )?(machine_found )*(ssh_answered )?(running )?(stopping )?(stopped |failed )?$/;

async function rentalFaults(db: Database, of: Of): Promise<string[]> {
  const { rows } = await db.raw<{ rows: RentalFacts[] }>(
    `select r.id, r.status, r.settled_at is not null as settled, r.stop_reason, r.ended_at, (r.pod_id is not null)::int + (
              select count(*)::int from bad_machines f join allocation_attempts a on a.id = f.attempt_id
               where f.rental_id = r.id and (r.pod_id is null or a.tag <> r.tag)) as found,
            r.released_cents, exists (select 1 from rental_requests q where q.id = r.id) as requested,
            (select coalesce(-sum(e.amount_cents), 0)::bigint from ledger_entries e
              where e.wallet_id = r.wallet_id and e.rental_no = r.no) as net
       from rentals r order by r.no`,
  );
  return rows.flatMap((row) => {
    const steps = of(row.id).filter(
      ({ type }) => !/warned|changed|kept_alive|script_fetched|ports_closed/.test(type),
    );
    if (steps.length === 0 && !row.requested) return [];
    const way = steps.map(({ type }) => `${type.slice('rental.'.length)} `).join('');
    const fault = faultOfRental(row, way, steps.at(-1));
    return fault === undefined ? [] : [`rental ${row.id}, ${row.status}: ${fault}; told: ${way}`];
  });
}

interface RentalFacts {
  readonly id: string;
  readonly status: string;
  readonly settled: boolean;
  readonly stop_reason: string | null;
  readonly ended_at: Date | null;
  readonly found: number;
  readonly released_cents: number;
  readonly requested: boolean;
  readonly net: number;
}

function faultOfRental(row: RentalFacts, way: string, last: Told | undefined): string | undefined {
  const rules: [fault: string, isBroken: boolean][] = [
    ['a step twice, or out of order', !wayOfRental.test(way)],
    ['its opening was not told', row.requested && !way.startsWith('created ')],
    ['its machine was not told', row.requested && row.found !== way.split('machine_found ').length - 1],
    ['its last step is another', last?.type !== `rental.${lastStepOf(row, way)}`],
    ...faultsOfEnd(row, last),
  ];
  return rules.find(([, isBroken]) => isBroken)?.[0];
}

function lastStepOf({ status, settled }: RentalFacts, way: string): string | undefined {
  if (status === 'provisioning')
    return ['ssh_answered', 'machine_found', 'created'].find((step) => way.includes(step));
  return status === 'stopping' && settled ? 'stopped' : status;
}

function faultsOfEnd(row: RentalFacts, last: Told | undefined): [fault: string, isBroken: boolean][] {
  const end = { reason: row.stop_reason, stoppedAt: row.ended_at?.toISOString() };
  const facts: Readonly<Record<string, Record<string, unknown>>> = {
    'rental.stopping': end,
    'rental.stopped': { ...end, chargedCents: row.net, refundedCents: row.released_cents },
  };
  return Object.entries(facts[last?.type ?? ''] ?? {}).map(([field, fact]) => [
    `its ${field} is ${String(fact)}`,
    last?.data[field] !== fact,
  ]);
}

const isBack = (type: string): boolean => type === 'reversed' || type === 'reinstated';

async function topupFaults(db: Database, of: Of): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string; status: string; back: string[] }[] }>(
    `select t.id, t.status, array(
         select back.step from refunds_and_disputes r cross join lateral (values ('reversed', r.taken_at is not null),
                  ('reinstated', r.taken_at is not null and r.given_back_at is not null)) as back (step, is_due)
          where r.user_id = t.user_id and r.payment_id = t.payment_id and is_due) as back
       from topups t order by t.id`,
  );
  return rows.flatMap(({ id, status, back }) => {
    const all = of(id).map(({ type }) => type.slice('topup.'.length));
    // What is taken in several rounds is told as often.
    const told = all.filter((type) => !isBack(type));
    if (all.filter(isBack).some((type) => !back.includes(type)) || back.some((type) => !all.includes(type))) {
      return [`top-up ${id}, taken and given back: ${back.join(' ')}; told: ${all.join(' ')}`];
    }
    const ended = ['succeeded', 'failed', 'expired'].includes(status);
    const once = told.filter((type) => type === 'succeeded').length <= 1;
    return once && (ended ? told.at(-1) === status : told.at(-1) !== 'succeeded')
      ? []
      : [`top-up ${id}, ${status}; told: ${told.join(' ')}`];
  });
}

async function invoiceFaults(db: Database, of: Of): Promise<string[]> {
  const rows = await db('invoices').orderBy('id').select('id', 'status');
  const words: Readonly<Record<string, string>> = { open: 'opened', void: 'voided' };
  return rows.flatMap(({ id, status }) => {
    const told = of(id).map(({ type }) => type.slice('invoice.'.length));
    const twice = new Set(told).size < told.length;
    const expected = status === 'draft' ? undefined : (words[status] ?? status);
    return !twice && told.at(-1) === expected ? [] : [`invoice ${id}, ${status}; told: ${told.join(' ')}`];
  });
}

async function cardFaults(db: Database, of: Of): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string; removed: boolean; saved: boolean }[] }>(
    `select pm_id as id, removed_at is not null as removed,
            exists (select 1 from audit_events where kind = 'card_saved' and entity_id = pm_id) as saved
       from saved_cards order by set_up_at`,
  );
  return rows.flatMap(({ id, removed, saved }) => {
    const told = of(id).map(({ type }) => type);
    // A card that came too late never was the saved one: nothing is told of it.
    const expected = [...(saved ? ['card.saved'] : []), ...(removed && saved ? ['card.removed'] : [])];
    const byTest = !saved && told.every((type) => type === 'card.removed');
    return byTest || told.join() === expected.join() ? [] : [`card ${id}; told: ${told.join(' ')}`];
  });
}

/** Each entry that brings money in is told once, and no other. */
async function creditFaults(db: Database): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { fault: string }[] }>(
    `with told as (
       select user_id, data from events where type = 'wallet.credited'
       union all select user_id, data from event_outbox where type = 'wallet.credited'
     ), credits as (
       select w.user_id, jsonb_build_object('amountCents', e.amount_cents, 'balanceCents', e.balance_after_cents,
                'ledgerSeq', e.seq, 'entryType', e.type) as data
         from ledger_entries e join wallets w on w.id = e.wallet_id where e.amount_cents > 0
     )
     select format('credit of %s, %s in the ledger, %s told: %s', user_id, count(*) filter (where ours),
                   count(*) filter (where not ours), data) as fault
       from (select true as ours, * from credits union all select false, * from told) both_of
      group by user_id, data having count(*) filter (where ours) <> 1 or count(*) filter (where not ours) <> 1`,
  );
  return rows.map(({ fault }) => fault);
}

/** As many sessions live as were told to begin and not to end. */
async function sessionFaults(db: Database): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { fault: string }[] }>(
    `with told as (
       select user_id, type from events where type like 'session.%'
       union all select user_id, type from event_outbox where type like 'session.%'
     ), counted as (
       select user_id, (count(*) filter (where type = 'session.started')
                         - count(*) filter (where type = 'session.ended'))::int as told
         from told group by user_id
     ), live as (select user_id, count(*)::int as live from sessions group by user_id)
     select format('%s has %s sessions, %s told', coalesce(l.user_id, c.user_id), coalesce(l.live, 0), coalesce(c.told, 0))
              as fault
       from counted c full join live l on l.user_id = c.user_id
      where coalesce(l.live, 0) <> coalesce(c.told, 0)`,
  );
  return rows.map(({ fault }) => fault);
}
