import type { Knex } from 'knex';

/** A schema as the catalog describes it: what each object is, by its kind and name. */
export type Fingerprint = ReadonlyMap<string, string>;

/**
 * Reads tables, columns, constraints, indexes, views, functions, triggers, types, rights and whatever else a schema
 * holds. Two schemas of one server have equal fingerprints exactly if they are alike, whichever their names are.
 * Objects of extensions are left out, and knex's own tables up to their rights.
 * @param trx a transaction: the names in what the server answers follow its `search_path`, which is set to the schema
 */
export async function readFingerprint(trx: Knex, schema: string): Promise<Fingerprint> {
  await trx.raw(`select set_config('search_path', quote_ident(?), true)`, [schema]);
  const { rows } = await trx.raw<{ rows: { what: string; definition: string | null }[] }>(query, { schema });
  return new Map(rows.map(({ what, definition }) => [what, definition ?? '']));
}

/**
 * Compares two fingerprints.
 * @returns one text for each object that is missing, is not expected, or differs, by name; empty when they are equal
 */
export function tellDifferences(expected: Fingerprint, found: Fingerprint): string[] {
  const all = [...new Set([...expected.keys(), ...found.keys()])].sort();
  return all.flatMap((what) => {
    const should = expected.get(what);
    const is = found.get(what);
    if (is === undefined) return [`missing: ${what}`];
    if (should === undefined) return [`unexpected: ${what}`];
    if (is === should) return [];
    const [from, to] = firstDifference(should, is);
    return [`different: ${what}\n    expected: ${from}\n    found:    ${to}`];
  });
}

/** The first lines that differ: a function has many. */
function firstDifference(one: string, other: string): [string, string] {
  const [lines, others] = [one.split('\n'), other.split('\n')];
  const at = lines.findIndex((line, no) => line !== others[no]);
  const no = at === -1 ? lines.length : at;
  return [lines[no]?.trim() ?? '(its end)', others[no]?.trim() ?? '(its end)'];
}

const query = `
  with space as (select oid from pg_namespace where nspname = :schema),
  own as (
    select c.* from pg_class c, space
     where c.relnamespace = space.oid and c.relkind not in ('i', 'I', 't') and c.relname not like 'knex\\_migrations%'
       and not exists (select 1 from pg_depend d
                        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  ),
  -- Who may use the list of steps is ours; the table itself is not.
  granted as (
    select * from own
    union all select c.* from pg_class c, space where c.relnamespace = space.oid and c.relname = 'knex_migrations'
  ),
  rights as (
    select g.relname, a.grantee, a.privilege_type, a.is_grantable, null as attname
      from granted g, aclexplode(g.relacl) a where a.grantee <> g.relowner
    union all
    select g.relname, a.grantee, a.privilege_type, a.is_grantable, t.attname
      from granted g join pg_attribute t on t.attrelid = g.oid, aclexplode(t.attacl) a where a.grantee <> g.relowner
  )
  select case c.relkind when 'r' then 'table ' when 'v' then 'view ' when 'S' then 'sequence ' else 'relation ' end
           || c.relname as what,
         concat_ws(' ', c.relkind, c.relpersistence, (select string_agg(o, ', ' order by o) from unnest(c.reloptions) o),
           case when c.relrowsecurity or c.relforcerowsecurity then 'with row security' end,
           case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid, true) end,
           (select concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqcache, seqcycle)
              from pg_sequence where seqrelid = c.oid)) as definition
    from own c
  union all
  select format('column %s.%s', c.relname, a.attname),
         concat_ws(' ', format_type(a.atttypid, a.atttypmod),
           case when a.attcollation <> t.typcollation then 'collate ' || a.attcollation::regcollation end,
           case a.attgenerated when '' then 'default' else 'generated ' || a.attgenerated::text end
             || ' ' || pg_get_expr(d.adbin, d.adrelid, true),
           case when a.attidentity <> '' then 'identity ' || a.attidentity::text end,
           case when a.attnotnull then 'not null' end)
    from own c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
  union all
  select format('constraint %s of %s', k.conname, c.relname), pg_get_constraintdef(k.oid, true)
    from own c join pg_constraint k on k.conrelid = c.oid where k.contype in ('p', 'u', 'x', 'c', 'f')
  union all
  select format('index %s on %s', i.indexrelid::regclass, c.relname),
         concat_ws(' ', pg_get_indexdef(i.indexrelid, 0, true), case when not i.indisvalid then 'invalid' end)
    from own c join pg_index i on i.indrelid = c.oid
   where not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
  union all
  select format('trigger %s on %s', t.tgname, c.relname),
         concat_ws(' ', pg_get_triggerdef(t.oid, true), case t.tgenabled when 'O' then null else 'enabled: ' || t.tgenabled::text end)
    from own c join pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal
  union all
  select format('rule %s on %s', r.rulename, c.relname), pg_get_ruledef(r.oid, true)
    from own c join pg_rewrite r on r.ev_class = c.oid where r.rulename <> '_RETURN'
  union all
  select format('policy %s on %s', p.polname, c.relname), pg_get_expr(p.polqual, p.polrelid, true)
    from own c join pg_policy p on p.polrelid = c.oid
  union all
  select format('rights on %s of %s', relname, case grantee when 0 then 'public' else grantee::regrole::text end),
         string_agg(concat_ws(' ', privilege_type, attname, case when is_grantable then 'with grant option' end), ', '
                    order by privilege_type, attname)
    from rights group by relname, grantee
  union all
  select 'function ' || p.oid::regprocedure,
         concat_ws(E'\\n',
           case when p.prokind in ('f', 'p')
                then replace(pg_get_functiondef(p.oid), format(' %I.%I(', :schema::text, p.proname), format(' %I(', p.proname))
                else p.prokind::text end,
           'may be called by ' || case when has_function_privilege('public', p.oid, 'execute') then 'everybody' else
             (select string_agg(a.grantee::regrole::text, ', ' order by a.grantee::regrole::text)
                from aclexplode(p.proacl) a where a.grantee <> p.proowner) end)
    from pg_proc p, space
   where p.pronamespace = space.oid
     and not exists (select 1 from pg_depend d
                      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  union all
  select 'type ' || t.typname,
         t.typtype::text || ' ' || (select string_agg(enumlabel, ', ' order by enumsortorder) from pg_enum where enumtypid = t.oid)
    from pg_type t join space on space.oid = t.typnamespace
   where t.typcategory <> 'A' and (t.typtype <> 'c' or exists (select 1 from own where own.oid = t.typrelid and relkind = 'c'))
     and not exists (select 1 from pg_type m where m.oid = t.typelem and m.typarray = t.oid)
     and not exists (select 1 from pg_depend d
                      where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')`;
