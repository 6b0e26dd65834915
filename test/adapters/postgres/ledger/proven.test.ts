import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insertClosing } from '../../../../adapters/postgres/accounts/closings.js';
import { eraseAccount } from '../../../../adapters/postgres/accounts/erasing.js';
import { newId } from '../../../../adapters/ids.js';
import type { Database } from '../../../../adapters/postgres/database.js';
import { verifyLedger } from '../../../../adapters/postgres/ledger/verify.js';
import { verifyRoots } from '../../../../adapters/postgres/ledger/verify-roots.js';
import { makeKeyFile } from '../../../../adapters/proof/signer.js';
import { signNext } from '../../../../ops/money/proof.js';
import { post } from '../../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../../money/ledger/wallets.js';
import { insertUser } from '../../../support/money/factories.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import { makeRoot, insertRentals, sealWhole, writeEntries } from '../../../support/money/sealed.js';

/** Writes the first entry of a seal a millisecond later. */
const moved = (gaps: string): string =>
  `case when ${gaps} is not null then array(
     select gap + (n = 1)::int from unnest(${gaps}) with ordinality as each (gap, n) order by n) end`;

/** What docs/proof.md says is covered, column by column, with a change of it that the schema alone would take. */
const changes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ledger_seals: {
    opening_cents: 'opening_cents + 1',
    first_ms: 'first_ms + 1',
    gaps_ms: moved('gaps_ms'),
    wide_gaps_ms: moved('wide_gaps_ms'),
    amounts_cents:
      'array(select cents + 1 from unnest(amounts_cents) with ordinality as each (cents, n) order by n)',
    places:
      'array(select case when n = 1 then 1 - sign(place)::int else place end from unnest(places) with ordinality as each (place, n) order by n)',
    rental_nos: 'rental_nos || (select max(no) from rentals)',
  },
  ledger_entries: {
    amount_cents: 'amount_cents + 1',
    balance_after_cents: 'balance_after_cents + 1',
    created_at: "created_at + interval '1 millisecond'",
    type: "(case type when 'refund' then 'adjustment' when 'rental_charge' then 'adjustment' when 'processor_topup' then 'auto_topup' else 'refund' end)::ledger_entry_type",
    rental_no: 'coalesce(rental_no, 0) + 1',
    processor_charge_id: "coalesce(processor_charge_id, '') || 'x'",
    note: "coalesce(note, '') || 'x'",
  },
  ledger_causes: { cause: "cause || 'x'" },
  ledger_hashes: {
    hash: 'set_byte(hash, 3, 255 - get_byte(hash, 3))',
    epoch: 'epoch + 1',
    first_seq: 'first_seq + 1',
  },
  ledger_note_salts: { salt: 'set_byte(salt, 3, 255 - get_byte(salt, 3))' },
  wallet_proof_ids: { proof_id: "translate(proof_id, '0123456789abcdef', '123456789abcdef0')" },
  ledger_roots: {
    line: "replace(line, ' 2', ' 3')",
    tree: 'set_byte(tree, 3, 255 - get_byte(tree, 3))',
    nodes: 'set_byte(nodes, 3, 255 - get_byte(nodes, 3))',
    salt: 'set_byte(salt, 3, 255 - get_byte(salt, 3))',
    signature: "translate(signature, '0123456789abcdef', '123456789abcdef0')",
    epoch: 'epoch + 1',
    made_at: "made_at - interval '1 day'",
  },
};

describe('a ledger that was proven', () => {
  let opened: MoneyDatabase;
  let db: Database;
  let folder: string;

  before(async () => {
    opened = await openMoneyDatabase();
    ({ db } = opened);
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-proven-'));
    const keys = { key: makeKeyFile(join(folder, 'key.pem')) };
    await db.raw('select switch_sealing(true)');
    for (const cents of [1, 2]) {
      const wallet = await insertWallet(db, 1_000);
      const rentals = await insertRentals(db, wallet, 2);
      await writeEntries(
        db,
        wallet,
        rentals,
        (
          [
            'rental_charge',
            'rental_charge',
            'refund',
            'rental_charge',
            'adjustment',
            'processor_topup',
            'rental_charge',
          ] as const
        ).map((type, no) => ({ type, rental: no % 2, cents: cents + no, gapMs: 1_000 * no })),
      );
      await db.raw(
        `insert into ledger_causes (cause, wallet_id, seq) select 'operation:op_' || :cents::int || seq, wallet_id, seq
           from kept_entries where wallet_id = :wallet on conflict (wallet_id, seq) do nothing`,
        { wallet: wallet.id, cents },
      );
      await sealWhole(db, wallet, 4);
      await makeRoot(db);
      await signNext(db, keys, join(folder, 'roots'));
    }
  });
  after(async () => {
    await opened.close();
    rmSync(folder, { recursive: true });
  });

  /** The findings about what was proven: the rentals of this file know nothing of their entries. */
  const findings = async (): Promise<string[]> => [
    ...(await verifyLedger(db))
      .filter(({ rule }) => rule === 'chain' || rule === 'wallet')
      .map(({ detail }) => detail),
    ...(await verifyRoots(db)).map(({ root, detail }) => `root ${root} ${detail}`),
  ];

  it('has no finding as it is', async () => {
    assert.deepEqual(await findings(), []);
  });

  it('has none either once the notes of a closed account are erased', async () => {
    const user = await insertUser(db);
    const wallet = (await db('wallets').where({ user_id: user.id }).first())!;
    for (const cents of [500, 200])
      await db.transaction(async (trx) => {
        const cause = { kind: 'operation', operationId: newId('op') } as const;
        await post(trx, await lockWalletOfUser(trx, user.id), {
          ...{ type: 'adjustment', availableCents: cents, cause, note: 'what quentin said' },
        });
      });
    await sealWhole(db, wallet, 4);
    await insertClosing(db, user.id);
    await db('account_closings').where({ user_id: user.id }).update({ state: 'erasing' });
    const hashes = await db('ledger_hashes').where({ wallet_id: wallet.id });
    assert.ok(hashes.length > 0);
    await eraseAccount(db, user.id, Buffer.alloc(32, 7).toString('base64'));
    assert.equal(await db('ledger_entries').where({ note: 'what quentin said' }).first(), undefined);
    assert.equal((await db('ledger_erased_notes')).length, 2);
    assert.deepEqual(await db('ledger_note_salts').where({ wallet_id: wallet.id }), []);
    assert.deepEqual(await findings(), []);
  });

  it('tells seals that were rewritten with all their hashes, by the tree of the root', async () => {
    for (const table of ['ledger_note_salts', 'ledger_hashes'])
      await db.raw('alter table ?? disable trigger user', [table]);
    const was = await db('ledger_hashes').orderBy(['wallet_id', 'last_seq']);
    const salts = await db('ledger_note_salts');
    await db.raw('update ledger_note_salts set salt = set_byte(salt, 3, 255 - get_byte(salt, 3))');
    for (const { wallet_id: wallet, last_seq: last } of was) {
      await db.raw(
        `update ledger_hashes h set hash = hash_of_seal(s, h.epoch) from ledger_seals s
          where h.wallet_id = :wallet and h.last_seq = :last and s.wallet_id = h.wallet_id and s.last_seq = h.last_seq`,
        { wallet, last },
      );
    }
    assert.deepEqual(
      await findings(),
      [1, 2].map((root) => `root ${root} has another tree than the seals that it covers`),
    );
    for (const { salt, ...key } of salts) await db('ledger_note_salts').where(key).update({ salt });
    for (const { wallet_id, last_seq, hash } of was)
      await db('ledger_hashes').where({ wallet_id, last_seq }).update({ hash });
    for (const table of ['ledger_note_salts', 'ledger_hashes'])
      await db.raw('alter table ?? enable trigger user', [table]);
    assert.deepEqual(await findings(), []);
  });

  for (const [table, columns] of Object.entries(changes)) {
    for (const [column, change] of Object.entries(columns)) {
      it(`tells a change of ${column} in any row of ${table}`, async () => {
        const { rows } = await db.raw<{ rows: { at: string }[] }>(
          `select ctid::text as at from ${table} where ${column} is distinct from ${change} order by ctid`,
        );
        assert.ok(rows.length > 1);
        for (const { at } of rows) {
          await db.raw('alter table ?? disable trigger user', [table]);
          const { rows: was } = await db.raw<{ rows: object[] }>(
            `select * from ${table} where ctid = ?::tid`,
            [at],
          );
          const { rows: now } = await db.raw<{ rows: { at: string }[] }>(
            `update ${table} set ${column} = ${change} where ctid = ?::tid returning ctid::text as at`,
            [at],
          );
          assert.notDeepEqual(await findings(), [], `${JSON.stringify(was)} by ${change}`);
          const [only] = was as Record<string, unknown>[];
          await db(table)
            .whereRaw('ctid = ?::tid', [now[0]!.at])
            .update({ [column]: only![column] } as never);
          await db.raw('alter table ?? enable trigger user', [table]);
        }
        assert.deepEqual(await findings(), [], 'it is as it was');
      });
    }
  }
});
