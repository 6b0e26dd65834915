import type { Mutation } from './planted-copy.js';

const readers = ['test/adapters/postgres/ledger/seals.test.ts'];
const kept = ['test/adapters/postgres/ledger/kept-seals.test.ts'];
const loop = ['test/activities/upkeep/sealing.test.ts'];
const byHand = ['test/ops/money/sealing.test.ts'];
const schema = 'migrations/050-ledger-seals.sql';

/** The functions of both that were written anew. */
const lighter = 'migrations/094-lighter-seals.sql';
const quickPages = 'migrations/101-quick-pages.sql';
const byIndex = 'migrations/118-seals-by-index.sql';
const proven = ['test/api/wallet/proof.test.ts'];
const changed = ['test/adapters/postgres/ledger/proven.test.ts'];
const signer = ['test/adapters/proof/signer.test.ts'];

/** Wrong lines of the ledger's seals and of its proof (decisions 139, "Seals of the ledger", and 140, "Proof of the ledger"). */
export const sealMutations: readonly Mutation[] = [
  {
    file: quickPages,
    from: 'cents + bigint_sum(amount) over so_far',
    to: 's.closing_cents + bigint_sum(amount) over so_far',
    tests: readers,
  },
  {
    file: quickPages,
    from: 'from_epoch_ms(ms + bigint_sum(gap) over so_far)',
    to: 'from_epoch_ms(s.first_ms + gap)',
    tests: readers,
  },
  {
    file: schema,
    from: 'where s.wallet_id = of_wallet and s.last_seq >= from_seq and s.last_seq < to_seq + 1000 and s.first_seq <= to_seq\n     and x.rental_no is not null',
    to: 'where s.wallet_id = of_wallet and s.last_seq >= from_seq and s.last_seq <= to_seq and s.first_seq <= to_seq\n     and x.rental_no is not null',
    tests: readers,
  },
  {
    file: schema,
    from: 'and (s.first_seq < from_seq or s.last_seq > to_seq)',
    to: 'and s.first_seq < from_seq',
    tests: readers,
  },
  {
    file: lighter,
    from: 'instants[middle - opened_first + 1] < at_ms;\n      elsif',
    to: 'instants[middle - opened_first] < at_ms;\n      elsif',
    tests: readers,
  },
  {
    file: lighter,
    from: "case when type = 'rental_charge' then rental_no end as no",
    to: 'rental_no as no',
    tests: readers,
  },
  {
    file: schema,
    from: '       or sealed_through(new.wallet_id) <> new.first_seq - 1\n',
    to: '',
    tests: kept,
  },
  { file: schema, from: '          or sealed_through(g.wallet_id) > g.last_seq\n', to: '', tests: kept },
  { file: byIndex, from: ' and seq < newest\n', to: '\n', tests: kept },
  { file: byIndex, from: 'epoch_ms(created_at) = instants[seq - skipped]', to: 'true', tests: kept },
  { file: byIndex, from: 'balance_after_cents = balances[seq - skipped]', to: 'true', tests: kept },
  { file: byIndex, from: 'rental_no = nos[places[seq - skipped]]', to: 'true', tests: kept },
  { file: byIndex, from: 'amount_cents = amounts[seq - skipped]', to: 'true', tests: kept },
  { file: byIndex, from: 'if held <> (select count(*) from gone) then', to: 'if held < 1 then', tests: kept },
  {
    file: lighter,
    from: 'at_ms > all (rental_latest_ms)',
    to: 'at_ms >= all (rental_latest_ms)',
    tests: readers,
  },
  {
    file: lighter,
    from: 'at_ms <= all (rental_earliest_ms)',
    to: 'at_ms <= all (rental_latest_ms)',
    tests: readers,
  },
  {
    file: schema,
    from: 'or a.last_seq > w.seq or a.first_seq <= w.seq - a.entries',
    to: 'or a.last_seq > w.seq',
    tests: kept,
  },
  {
    file: lighter,
    from: 'not (select is_on from ledger_sealing) or not pg_try_advisory_xact_lock(7112, hashint8(of_wallet))',
    to: 'not (select is_on from ledger_sealing)',
    tests: kept,
  },
  { file: lighter, from: 'least(until, newest - 1)', to: 'least(until, newest)', tests: kept },
  {
    file: lighter,
    from: "    if not database_is_confirmed() then\n      raise exception 'this database was restored, or not yet compared with Temporal: nothing is sealed'",
    to: "    if false then\n      raise exception 'this database was restored, or not yet compared with Temporal: nothing is sealed'",
    tests: kept,
  },
  {
    file: schema,
    from: '      revoke select on ledger_entries from gpu_rental_api, gpu_rental_worker, gpu_rental_ops;\n',
    to: '      null;\n',
    tests: kept,
  },
  {
    file: 'adapters/postgres/ledger/ledger-reads.ts',
    from: "const rental = `coalesce(${ofRental('no')}, 0)`;",
    to: "const rental = ofRental('no');",
    tests: readers,
  },
  {
    file: quickPages,
    from: '      if wanted = 0 then return; end if;\n',
    to: '      if wanted <= 1 then return; end if;\n',
    tests: readers,
  },
  {
    file: quickPages,
    from: '      highest := lowest - 1;\n',
    to: '      highest := lowest - 2;\n',
    tests: readers,
  },
  {
    file: 'adapters/postgres/ledger/rental-charges.ts',
    from: 'seals where is_whole',
    to: 'seals',
    tests: readers,
  },
  {
    file: 'activities/upkeep/sealing.ts',
    from: 'left.length > 0 ? Math.min(...left) - 1 : Math.max(...part)',
    to: 'Math.max(...part)',
    tests: loop,
  },
  {
    file: 'activities/upkeep/sealing.ts',
    from: '    alone = [...part];\n',
    to: '',
    tests: loop,
  },
  {
    file: 'adapters/postgres/operators/direct-actions.ts',
    from: 'if (older.length > 0) {',
    to: 'if (older.length > 99) {',
    tests: byHand,
  },
  {
    file: byIndex,
    from: "encode(hash_before(s), 'hex')),",
    to: "repeat('0', 64)),",
    tests: proven,
  },
  {
    file: byIndex,
    from: "encode(sha256(n.salt || convert_to(e.note, 'UTF8')), 'hex')",
    to: "'-'",
    tests: changed,
  },
  {
    file: byIndex,
    from: "coalesce(c.cause, '-'),",
    to: "'-',",
    tests: changed,
  },
  {
    file: lighter,
    from: 'until := coalesce(proven, least(newest, sealed + least(most_entries, 1000)));',
    to: 'until := least(newest, sealed + least(most_entries, 1000));',
    tests: proven,
  },
  {
    file: 'adapters/postgres/ledger/proof.ts',
    from: 'and r.line is not null and r.made_at >= :to',
    to: 'and r.line is not null',
    tests: proven,
  },
  {
    file: 'adapters/proof/tree.ts',
    from: 'sha256(`nobody ${this.salt} ${height} ${prefix}\\n`)',
    to: 'noHash',
    tests: proven,
  },
  {
    file: 'adapters/proof/signer.ts',
    from: 'root.epoch === last.epoch && root.number === last.number + 1',
    to: 'root.number >= last.number',
    tests: signer,
  },
  {
    file: 'adapters/proof/signer.ts',
    from: 'lineBefore !== null && !roots.some',
    to: 'lineBefore === null && !roots.some',
    tests: ['test/adapters/postgres/ledger/lost-roots.test.ts'],
  },
  {
    file: 'adapters/postgres/ledger/verify-roots.ts',
    from: "=== tree && kept?.nodes?.toString('hex') === nodes.join('');",
    to: '=== tree || nodes.length > 0 || kept === undefined;',
    tests: changed,
  },
];
