import type { Part } from './reach.js';

type Ask = <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A column that holds one of a few words. */
interface Column {
  readonly table: string;
  readonly column: string;
  readonly words: readonly string[];
}

/** Words within a column's constraint: a check that it is one of them. */
const oneOf =
  /^CHECK \(\(\(?"?(\w+)"?\)?(?:::text)? = ANY \(+ARRAY\[([^\]]+)\][^a-z]*(?:::text\[\][^a-z]*)?$/;

/** Reads from the database's catalog which columns hold one of a few words. */
async function columnsOf(ask: Ask): Promise<Column[]> {
  const checks = await ask<{ table: string; said: string }>(
    `select c.conrelid::regclass::text as table, pg_get_constraintdef(c.oid) as said from pg_constraint c
     join pg_class t on t.oid = c.conrelid where c.contype = 'c' and t.relkind = 'r' and c.connamespace = 'public'::regnamespace
     order by 1, c.conname`,
  );
  const enums = await ask<{ table: string; column: string; words: string[] }>(
    `select t.relname::text as table, a.attname::text as column, array_agg(e.enumlabel::text order by e.enumsortorder) as words
     from pg_attribute a join pg_class t on t.oid = a.attrelid and t.relkind = 'r' and t.relnamespace = 'public'::regnamespace
     join pg_enum e on e.enumtypid = a.atttypid where not a.attisdropped group by 1, 2 order by 1, 2`,
  );
  const checked = checks.flatMap(({ table, said }): Column[] => {
    const [, column, list = ''] = oneOf.exec(said) ?? [];
    const words = [...list.matchAll(/'([^']*)'::/g)].map(([, word]) => word ?? '');
    return column === undefined || words.length === 0 ? [] : [{ table, column, words }];
  });
  return [...checked, ...enums];
}

/**
 * Lets the run's own database note which words its columns get, and after which others. The notes have no index, so that
 * no transaction waits for another's.
 */
export async function watchStates(ask: Ask): Promise<void> {
  await ask('create table simulated_states (place text, was text, became text)');
  await ask(`create function note_simulated_state() returns trigger language plpgsql security definer as $$
    declare was text; begin
      if tg_op = 'UPDATE' then execute format('select ($1).%I::text', tg_argv[0]) into was using old; end if;
      execute format('insert into simulated_states select %L, $1, ($2).%I::text', tg_table_name || '.' || tg_argv[0], tg_argv[0])
        using was, new;
      return null;
    end $$`);
  for (const { table, column } of await columnsOf(ask)) {
    const name = `simulated_${column}`;
    const call = `for each row when (%) execute function note_simulated_state('${column}')`;
    const isNew = `new."${column}" is not null`;
    const differs = `old."${column}" is distinct from new."${column}"`;
    await ask(`create trigger ${name}_new after insert on ${table} ${call.replace('%', isNew)}`);
    await ask(`create trigger ${name} after update of "${column}" on ${table} ${call.replace('%', differs)}`);
  }
}

/** Reads what the run's database has noted: the words of all columns, and the ways from one to another. */
export async function readStates(ask: Ask): Promise<{ states: Part; transitions: Part }> {
  const noted = await ask<{ place: string; was: string | null; became: string | null }>(
    'select distinct place, was, became from simulated_states order by 1, 2, 3',
  );
  const columns = await columnsOf(ask);
  const all = columns.flatMap(({ table, column, words }) =>
    words.map((word) => `${table}.${column} ${word}`),
  );
  const known = new Set(all);
  const seen = noted.map(({ place, became }) => `${place} ${became}`).filter((state) => known.has(state));
  const ways = noted
    .filter(({ was, became }) => was !== null || became !== null)
    .map(({ place, was, became }) => `${place} ${was ?? 'nothing'} -> ${became ?? 'nothing'}`);
  return { states: { all, seen: [...new Set(seen)] }, transitions: { all: [], seen: ways } };
}
