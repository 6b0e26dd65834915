import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { readSettlementSheet } from '../../../../adapters/postgres/explain/settlement-sheet.js';
import { readLedger } from '../../../../adapters/postgres/ledger/ledger-reads.js';
import { readStatement } from '../../../../adapters/postgres/ledger/statement-reads.js';
import type { Discrepancy } from '../../../../adapters/postgres/ledger/verify-rules.js';
import { verifyLedger, verifyRecent } from '../../../../adapters/postgres/ledger/verify.js';
import type { WalletRow } from '../../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../../domain/ids.js';
import { databaseRoles, type DatabaseRole } from '../../../../migrations/roles.js';
import { lockWalletOfRental } from '../../../../money/ledger/wallets.js';
import { tick } from '../../../../money/metering/tick.js';
import { lockRental } from '../../../../money/rentals/rentals.js';
import { settle } from '../../../../money/rentals/settle.js';
import {
  askToStop,
  credit,
  getWallet,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../../support/money/money.js';
import { verifyLedgerAgain } from '../../../support/money/kept-plan.js';
import {
  insertRentals,
  readEverything,
  rowsOf,
  seal,
  sealWhole,
  unseal,
  writeEntries,
  type Entry,
} from '../../../support/money/sealed.js';

describe('a seal keeps what it holds', () => {
  let opened: MoneyDatabase;
  let db: Database;

  before(async () => {
    opened = await openMoneyDatabase();
    ({ db } = opened);
    await db.raw('select switch_sealing(true)');
  });
  after(() => opened.close());

  const few: readonly Entry[] = Array.from({ length: 9 }, (_, no) => ({
    ...{ type: no === 4 ? 'refund' : 'rental_charge', rental: no % 2, cents: no + 1, gapMs: 1_000 * no },
  }));
  let wallet: WalletRow;
  let rentals: RentalId[];

  beforeEach(async () => {
    wallet = await insertWallet(db, 1_000);
    rentals = await insertRentals(db, wallet, 2);
    await writeEntries(db, wallet, rentals, few);
  });

  const refused = (constraint: string, sql: string, bindings: Record<string, unknown> = {}): Promise<void> =>
    assert.rejects(db.raw(sql, { wallet: wallet.id, ...bindings }), { constraint });

  it('refuses a charge that says more than a seal holds, wherever it stands', async () => {
    const rows = await db('ledger_entries')
      .where({ wallet_id: wallet.id, type: 'rental_charge' })
      .orderBy('seq');
    for (const column of ['note', 'processor_charge_id']) {
      for (const { seq } of [rows[0]!, rows.at(-1)!]) {
        const say = async (text: string | null): Promise<void> => {
          await db.raw('alter table ledger_entries disable trigger user');
          await db('ledger_entries')
            .where({ wallet_id: wallet.id, seq })
            .update({ [column]: text });
          await db.raw('alter table ledger_entries enable trigger user');
        };
        await say('more');
        await assert.rejects(sealWhole(db, wallet, 20), { code: '23514' }, `${column} of ${seq}`);
        await say(null);
      }
    }
    await sealWhole(db, wallet, 20);
  });

  it('refuses a seal that differs from its rows, in each column', async () => {
    const { rows: columns } = await db.raw<{ rows: { name: string; type: string }[] }>(
      `select attname as name, atttypid::regtype::text as type from pg_attribute
        where attrelid = 'ledger_seals'::regclass and attnum > 0 and not attisdropped order by attnum`,
    );
    const taking = (changed: string, how: string): string =>
      `insert into ledger_seals select ${columns
        .map(({ name }) => (name === changed ? how : `(s.seal).${name}`))
        .join(', ')} from (select seal_of(:wallet, 1, 7) as seal) s`;
    for (const { name, type } of columns) {
      if (name === 'wallet_id' || name.startsWith('wide_')) continue;
      const other = type.endsWith('[]')
        ? `(s.seal).${name}[:0] || 9 || (s.seal).${name}[2:]`
        : `(s.seal).${name} + 1`;
      await assert.rejects(db.raw(taking(name, other), { wallet: wallet.id }), { code: '23514' }, name);
    }
    await db.raw(taking('', ''), { wallet: wallet.id });
    await refused(
      'append_only',
      'update ledger_seals set closing_cents = closing_cents + 1 where wallet_id = :wallet',
    );
    await refused('append_only', 'truncate ledger_seals');
  });

  it('refuses a seal with a gap before it, and one over another', async () => {
    await seal(db, wallet, 3);
    for (const [from, to] of [
      [5, 7],
      [2, 5],
      [1, 8],
    ]) {
      // Of what is sealed there are no rows, so there is no balance to begin with.
      await assert.rejects(
        db.raw('insert into ledger_seals select * from seal_of(?, ?, ?)', [wallet.id, from!, to!]),
        ({ code, constraint }: { code: string; constraint?: string }) =>
          code === '23502' || constraint?.startsWith('ledger_seal') === true,
        `${from} to ${to}`,
      );
    }
  });

  it('gives up no row that no seal holds, and never the newest entry', async () => {
    await refused('append_only', 'delete from ledger_entries where wallet_id = :wallet and seq = 3');
    await sealWhole(db, wallet);
    assert.deepEqual(
      (await db('ledger_entries').where({ wallet_id: wallet.id }).orderBy('seq')).map(({ seq }) => seq),
      [1, 6, 10],
      'what is no charge, and the newest',
    );
    for (const seq of [6, 10]) {
      await refused('append_only', 'delete from ledger_entries where wallet_id = :wallet and seq = :seq', {
        seq,
      });
    }
  });

  it('gives up no row that differs from its seal, in whatever order rows go', async () => {
    const change = async (what: string, seq: number): Promise<void> => {
      await db.raw('alter table ledger_entries disable trigger user');
      await db.raw(`update ledger_entries set ${what} where wallet_id = ? and seq = ?`, [wallet.id, seq]);
      await db.raw('alter table ledger_entries enable trigger user');
    };
    const take = 'delete from ledger_entries where wallet_id = :wallet and seq between 2 and 9 and seq <> 6';
    await db.raw('insert into ledger_seals (wallet_id, first_seq, last_seq) values (?, 1, 7)', [wallet.id]);
    await refused('append_only', take);
    await db.raw('insert into ledger_seals (wallet_id, first_seq, last_seq) values (?, 8, 10)', [wallet.id]);
    // The first that goes, one that follows its neighbour, one after an entry that stays, and the first of another seal.
    for (const seq of [2, 5, 7, 8]) {
      for (const [there, back] of [
        ['amount_cents = amount_cents - 1', 'amount_cents = amount_cents + 1'],
        ['balance_after_cents = balance_after_cents + 1', 'balance_after_cents = balance_after_cents - 1'],
        ['rental_no = rental_no + 1', 'rental_no = rental_no - 1'],
        [`created_at = created_at + interval '1 ms'`, `created_at = created_at - interval '1 ms'`],
        [
          `type = 'refund', amount_cents = -amount_cents`,
          `type = 'rental_charge', amount_cents = -amount_cents`,
        ],
        [`note = 'more'`, 'note = null'],
        [`processor_charge_id = 'ch_more'`, 'processor_charge_id = null'],
      ]) {
        await change(there!, seq);
        await refused('append_only', take);
        await change(back!, seq);
      }
    }
    // From the last to the first: none follows its neighbour.
    await db.transaction(async (trx) => {
      await trx.raw('set local enable_hashjoin to off');
      await trx.raw('set local enable_mergejoin to off');
      await trx.raw(
        `with going as materialized (select seq from generate_series(9, 2, -1) seq where seq <> 6)
         delete from ledger_entries e using going where e.wallet_id = ? and e.seq = going.seq`,
        [wallet.id],
      );
    });
    assert.deepEqual(
      (await rowsOf(db, wallet)).map(({ seq }) => seq),
      [1, 6, 10],
    );
  });

  it('reads no growing table whole, by plans that were made while all were empty', async () => {
    const empty = await openMoneyDatabase();
    try {
      await empty.db.raw('select switch_sealing(true)');
      await empty.db.raw('vacuum analyze');
      const first = await insertWallet(empty.db, 1_000);
      await writeEntries(empty.db, first, await insertRentals(empty.db, first, 2), few);
      const { rows } = await empty.db.transaction(async (trx) => {
        await trx.raw(
          'create temporary table scanned on commit drop as select relid, seq_scan from pg_stat_xact_user_tables',
        );
        await trx.raw('select seal_wallet(?, 1, 5)', [first.id]);
        return trx.raw<{ rows: { relname: string }[] }>(
          `select relname from pg_stat_xact_user_tables now join scanned using (relid)
            where now.seq_scan > scanned.seq_scan order by relname`,
        );
      });
      assert.deepEqual(rows, [{ relname: 'ledger_sealing' }, { relname: 'watermark' }], 'each has one row');
    } finally {
      await empty.close();
    }
  });

  it('takes no entry of a number that was taken, but for the one that is sealed', async () => {
    await sealWhole(db, wallet);
    const again = (cents: string): string =>
      `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       select wallet_id, seq, type, ${cents}, balance_after_cents, rental_no, created_at
         from ledger_between(:wallet, 3, 3)`;
    await refused('ledger_chain', again('amount_cents - 1'));
    const before = await readEverything(db, wallet, rentals);
    await db.raw(again('amount_cents'), { wallet: wallet.id });
    assert.deepEqual(await readEverything(db, wallet, rentals), before, 'it is read once');
  });

  it('lets a seal go only when its rows are there, the newest first', async () => {
    await seal(db, wallet, 5);
    await seal(db, wallet, 5);
    await refused('ledger_seal', 'delete from ledger_seals where wallet_id = :wallet and last_seq = 10');
    await refused('ledger_seal', 'delete from ledger_seals where wallet_id = :wallet');
    assert.equal(await unseal(db, wallet), 5);
    assert.equal(await unseal(db, wallet), 5);
    assert.equal(await unseal(db, wallet), 0);
  });

  /** The rentals of this file were never charged by metering: their rows know nothing of their entries. */
  const ofMetering = async (verified: Promise<Discrepancy[]>): Promise<Discrepancy[]> =>
    (await verified).filter(({ rentalId }) => !rentals.includes(rentalId as RentalId));

  it('is read whole at each moment, while it is written, sealed and read', async () => {
    const { user_id: user } = wallet;
    const writes = 120;
    let written = 0;
    const sealed: number[] = [];
    let reads = 0;
    const isDone = (): boolean => written >= writes;
    const writer = async (): Promise<void> => {
      for (; !isDone(); written += 1) {
        await writeEntries(db, wallet, rentals, [
          { type: written % 9 ? 'rental_charge' : 'refund', rental: 0, cents: 1, gapMs: 0 },
        ]);
      }
    };
    const sealer = async (): Promise<void> => {
      while (!isDone()) sealed.push(await seal(db, wallet, 3));
    };
    const reader = async (): Promise<void> => {
      for (; !isDone(); reads += 1) {
        const { balanceCents, newestSeq, entries } = await readLedger(db, user, {}, 10_000);
        assert.deepEqual(
          entries.map(({ seq }) => seq),
          Array.from({ length: newestSeq }, (_, no) => newestSeq - no),
        );
        assert.equal(entries[0]?.balanceAfterCents, balanceCents);
        const told = await readStatement(db, user, { from: new Date(0), to: new Date(Date.UTC(2040, 0)) });
        assert.equal(
          told.closingBalanceCents,
          told.sums.reduce((sum, { amountCents }) => sum + amountCents, 0),
        );
      }
    };
    await Promise.all([writer(), sealer(), sealer(), reader(), reader()]);
    assert.ok(
      sealed.filter((entries) => entries > 0).length > 5 && reads > 5,
      `${sealed.length} tries, ${reads} reads`,
    );
  });

  it('goes on: what is sealed whole is topped up, metered, refunded and taken back, and adds up', async () => {
    await sealWhole(db, wallet);
    await credit(db, wallet.user_id, 700);
    const id = await insertRunning(db, await getWallet(db, wallet.user_id), {
      priceCents: 600,
      ranMs: 120_000,
    });
    await tick(db, { shard: 0, shards: 1 });
    await sealWhole(db, wallet);
    await askToStop(db, id);
    await tick(db, { shard: 0, shards: 1 });
    await db.transaction(async (trx) => {
      const locked = await lockWalletOfRental(trx, id);
      const rental = await lockRental(trx, id);
      await settle(trx, locked, rental);
    });
    await sealWhole(db, wallet);
    assert.deepEqual(await ofMetering(verifyLedger(db, wallet.user_id)), []);
    assert.deepEqual(await ofMetering(verifyRecent(db, new Date(0))), []);
    // The rental's last seal says a cent more than its entries, and each check finds it.
    await db.raw('alter table ledger_seals disable trigger user');
    await db.raw(
      `update ledger_seals set rental_cents[cardinality(rental_cents)] = rental_cents[cardinality(rental_cents)] - 1
        where wallet_id = :wallet and last_seq = sealed_through(:wallet)`,
      { wallet: wallet.id },
    );
    await db.raw('alter table ledger_seals enable trigger user');
    const rules = (found: Discrepancy[]): string[] => found.map(({ rule }) => rule);
    assert.deepEqual(rules(await ofMetering(verifyLedger(db, wallet.user_id))), ['chain', 'rental', 'price']);
    const again = await verifyLedgerAgain(db, wallet.user_id);
    assert.deepEqual(again, await verifyLedger(db, wallet.user_id), 'the plan that tests keep finds it too');
    assert.ok(rules(await ofMetering(verifyRecent(db, new Date(0)))).includes('rental'));
    assert.equal((await readSettlementSheet(db, id))?.agrees, true);
  });

  it('is sealed by one at a time, and while others write', async () => {
    const held = await db.transaction();
    try {
      await held.raw('select seal_wallet(?, 1, 5)', [wallet.id]);
      assert.equal(await seal(db, wallet), 0, 'another seals it');
      await credit(db, wallet.user_id, 5);
      await held.rollback();
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
    assert.equal((await rowsOf(db, wallet)).length, 11, 'what was given up left no trace');
    assert.equal(await seal(db, wallet, 5), 5);
  });

  describe('lets roles do what they need, and nothing else', () => {
    const as = {} as Record<DatabaseRole, Database>;
    let wallet: WalletRow;

    before(async () => {
      for (const role of ['api', 'worker', 'ops'] as const)
        as[role] = openDatabase(opened.url, 2, 'test', databaseRoles[role]);
      wallet = await insertWallet(db, 1_000);
      await writeEntries(db, wallet, await insertRentals(db, wallet, 1), [
        { type: 'rental_charge', rental: 0, cents: 1, gapMs: 0 },
      ]);
    });
    after(() => Promise.all(Object.values(as).map((pool) => pool.destroy())));

    const denied = (role: DatabaseRole, sql: string): Promise<void> =>
      assert.rejects(as[role].raw(sql), { code: '42501' }, `${role}: ${sql}`);

    it('the worker seals, and deletes nothing itself', async () => {
      await denied('api', `select seal_wallet(${wallet.id}, 1, 9)`);
      await denied('ops', `select seal_wallet(${wallet.id}, 1, 9)`);
      await denied('worker', 'delete from ledger_entries');
      await denied('worker', 'delete from ledger_seals');
      await denied('worker', 'insert into ledger_seals select * from seal_of(1, 1, 1)');
      await denied('worker', 'select switch_sealing(false)');
      await denied('worker', `select unseal_wallet(${wallet.id})`);
      await as.worker.raw('select seal_wallet(?, 1, 9)', [wallet.id]);
    });

    it('none of them reads the table while anything may be sealed, as an earlier release would', async () => {
      for (const role of ['api', 'worker', 'ops'] as const) {
        await denied(role, 'select count(*) from ledger_entries');
        const { entries } = await readLedger(as[role], wallet.user_id, {}, 9);
        assert.equal(entries.length, 2, role);
      }
      await credit(as.worker, wallet.user_id, 5);
      // A run that was sealed and taken back has its hash, and no seal.
      await unseal(db, wallet);
      for (const role of ['worker', 'ops'] as const) await verifyLedger(as[role], wallet.user_id);
    });
  });

  it('seals nothing while it is off, and gives the table back with the last seal', async () => {
    const other = await openMoneyDatabase();
    const asOps = openDatabase(other.url, 2, 'test', databaseRoles.ops);
    try {
      const wallet = await insertWallet(other.db, 1_000);
      const sealIt = () => other.db.raw('select seal_wallet(?, 1, 9)', [wallet.id]);
      await sealIt();
      assert.deepEqual(await other.db('ledger_seals'), []);
      await asOps.raw('select switch_sealing(true)');
      await sealIt();
      await asOps.raw('select switch_sealing(false)');
      await assert.rejects(asOps('ledger_entries').first(), { code: '42501' });
      await assert.rejects(asOps.raw('select end_unsealing()'), { code: '55000' }, 'a seal is left');
      await asOps.raw('select unseal_wallet(?)', [wallet.id]);
      await asOps.raw('select end_unsealing()');
      assert.ok(await asOps('ledger_entries').first());
      await asOps.raw('select switch_sealing(true)');
      await assert.rejects(asOps.raw('select unseal_wallet(?)', [wallet.id]), { code: '55000' }, 'it is on');
      await other.db.raw("update watermark set confirmed_as = 'another'");
      await assert.rejects(sealIt(), { code: 'RS001' });
    } finally {
      await asOps.destroy();
      await other.close();
    }
  });
});
