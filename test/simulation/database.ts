import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { databaseRoles } from '../../migrations/roles.js';
import type { Database } from '../../adapters/postgres/database.js';

/** Lets a pool keep its idle connections, which it would close at real times of its own. */
export function keepIdle(db: Database): Database {
  const { pool } = db.client as { pool: { _startReaping: () => void } };
  pool._startReaping = () => undefined;
  return db;
}

/**
 * The ledger as the oracle sees it, sealed or not. It shares no code with what it judges: an entry of a seal is what all
 * before it in the seal sum up to.
 */
const seenEntries = `
  create view seen_entries as
  select wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, processor_charge_id, created_at
    from ledger_entries e
   where type <> 'rental_charge'
      or not exists (select 1 from ledger_seals s
                      where s.wallet_id = e.wallet_id and e.seq between s.first_seq and s.last_seq)
  union all
  select s.wallet_id, s.first_seq + i - 1, 'rental_charge', coalesce(s.amounts_cents[i], s.wide_amounts_cents[i]),
         s.opening_cents + (select sum(coalesce(s.amounts_cents[j], s.wide_amounts_cents[j])) from generate_series(1, i) j),
         s.rental_nos[s.places[i]], null,
         to_timestamp((s.first_ms + (select sum(coalesce(s.gaps_ms[j], s.wide_gaps_ms[j])) from generate_series(1, i) j))
                      / 1000.0)
    from ledger_seals s cross join generate_subscripts(s.places, 1) i
   where s.places[i] > 0`;

/** What the database draws by itself, from a count instead of its own chance: the same in each run of a seed. */
const drawnInOrder = `
  create sequence simulation.drawn;
  grant usage on sequence simulation.drawn to public;
  alter table wallet_proof_ids alter proof_id set default md5(nextval('simulation.drawn')::text);
  alter table ledger_note_salts alter salt set default decode(md5(nextval('simulation.drawn')::text), 'hex');
  alter table ledger_roots alter salt set default sha256(nextval('simulation.drawn')::text::bytea)`;

/** Stands in the server's own folder, and holds the milliseconds since 1970. */
const CLOCK_FILE = 'simulated-clock';

/** The database of a run, whose clock is the simulation's. */
export interface SimulatedDatabase {
  /** A connection of the simulation's own. */
  readonly control: pg.Client;
  readonly setClock: (ms: number) => void;
}

/** Makes the migrated database at a URL that of a run, in which the ledger is sealed. */
export async function prepareDatabase(url: string): Promise<SimulatedDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const setClock = await placeClock(client);
  // Beside the product's schema, whose sequences a restore steps over.
  await client.query('create schema simulation; grant usage on schema simulation to public');
  await client.query(drawnInOrder);
  await client.query(seenEntries);
  // As switch_sealing does, which asks the clock: it does not run yet.
  await client.query(`update ledger_sealing set is_on = true;
    revoke select on ledger_entries from ${Object.values(databaseRoles).join(', ')}`);
  return { control: client, setClock };
}

/** A file costs a fraction of what a statement does, and time passes before half of the statements. */
async function placeClock(client: pg.Client): Promise<(ms: number) => void> {
  const { rows } = await client.query<{ folder: string }>(
    `select current_setting('data_directory') as folder`,
  );
  const file = openSync(join(rows[0]!.folder, CLOCK_FILE), 'w');
  const setClock = (ms: number): void => void writeSync(file, String(ms).padStart(15, '0'), 0);
  setClock(0);
  await client.query(`grant execute on function pg_read_file(text) to public;
    create or replace function clock_ms() returns timestamptz(3) language sql volatile
      as $$ select timestamptz '1970-01-01 00:00:00+00' + pg_read_file('${CLOCK_FILE}')::bigint * interval '1 millisecond' $$`);
  return setClock;
}

/** All that a copy of the database holds; what the simulation itself notes is not in it. */
const ownTables = `from pg_class t where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace and t.relname not like 'simulated%'`;

/** Copies the database, as a backup does. */
export const copyDatabase = `do $$ declare one text; begin
  create schema copied;
  for one in select relname ${ownTables} order by relname loop
    execute format('create table copied.%I as table public.%I', one, one);
  end loop;
  create table copied."the sequences" as
    select sequencename, coalesce(last_value, start_value) as value, last_value is not null as is_called
      from pg_sequences where schemaname = 'public';
end $$`;

/**
 * Puts the copy in the place of the database. Nobody has compared it with Temporal yet: no server of its kind has been
 * confirmed.
 */
export const restoreDatabase = `do $$ declare one record; begin
  set local session_replication_role = replica;
  execute (select 'truncate ' || string_agg(format('public.%I', relname), ', ') ${ownTables});
  for one in
    select t.relname, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
      ${ownTables.replace('pg_class t', 'pg_class t join pg_attribute a on a.attrelid = t.oid')}
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by t.relname order by t.relname
  loop
    execute format('insert into public.%I (%s) overriding system value select %s from copied.%I',
                   one.relname, one.columns, one.columns, one.relname);
  end loop;
  perform setval(format('public.%I', sequencename), value, is_called) from copied."the sequences";
  update watermark set confirmed_as = null;
end $$`;
