import type { KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { findProof, linesOfProof } from '../../../adapters/postgres/ledger/proof.js';
import { beginEpoch } from '../../../adapters/postgres/ledger/roots.js';
import {
  confirmDatabase,
  raiseWatermark,
  reconcilingWithin,
} from '../../../adapters/postgres/restore/watermark.js';
import { makeKeyFile } from '../../../adapters/proof/signer.js';
import { monthOf } from '../../../domain/instants.js';
import type { UserId } from '../../../domain/ids.js';
import { signNext } from '../../../ops/money/proof.js';
import { insertRunning } from '../money/money.js';
import { makeRoot } from '../money/sealed.js';
import { copyDatabase, createTestDatabase, type TestDatabase } from '../servers/database.js';

/** A wallet, and what its ledger must say. */
export interface KnownWallet {
  readonly id: number;
  readonly userId: UserId;
  readonly rentals: readonly number[];
  /** The balance after each entry, and when it was written. */
  readonly balances: number[];
  readonly instants: number[];
}

/** An entry to write. */
export interface NewEntry {
  readonly type: 'rental_charge' | 'refund' | 'adjustment' | 'processor_topup' | 'auto_topup';
  readonly cents: number;
  readonly ms: number;
  readonly rental: number | null;
  readonly charge: string | null;
  readonly note: string | null;
}

const rentalsEach = 2;

/** A service that proves its ledger, whose nights pass as fast as they can be sealed. One connection does all, as the clock is its own. */
export class ProvenHistory {
  wallets: KnownWallet[] = [];
  readonly rootsFile: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'gpu-rental-history-'));
  #key: KeyObject;
  #keyBefore: KeyObject | undefined;
  #keys = 0;
  #backup: { readonly database: TestDatabase; readonly wallets: KnownWallet[] } | undefined;

  private constructor(
    private database: TestDatabase,
    public db: Database,
  ) {
    this.rootsFile = join(this.#folder, 'roots');
    this.#key = this.#makeKey();
  }

  static async start(): Promise<ProvenHistory> {
    const database = await createTestDatabase();
    const history = new ProvenHistory(database, openDatabase(database.url, 1, 'test'));
    await history.db.raw(`create or replace function clock_ms() returns timestamptz language sql
      as $$ select coalesce(to_timestamp(nullif(current_setting('test.at', true), '')::float8), clock_timestamp()) $$`);
    await history.db.raw('select switch_sealing(true)');
    return history;
  }

  async close(): Promise<void> {
    await this.db.destroy();
    await this.database.drop();
    await this.#backup?.database.drop();
    rmSync(this.#folder, { recursive: true });
  }

  /** Sets the service's clock. */
  async at(ms: number): Promise<void> {
    await this.db.raw(`select set_config('test.at', ?, false)`, [(ms / 1_000).toFixed(3)]);
  }

  /** Opens wallets without entries, with rentals to charge. */
  async open(count: number): Promise<void> {
    const ids = Array.from({ length: count }, () => newId('usr'));
    await this.db('users').insert(ids.map((id) => ({ id, email: `${id.toLowerCase()}@example.com` })));
    const rows = await this.db('wallets')
      .insert(ids.map((id) => ({ user_id: id })))
      .returning('*');
    for (const row of rows) {
      for (let no = 0; no < rentalsEach; no += 1)
        await insertRunning(this.db, row, { priceCents: 100, ranMs: 60_000, holdCents: 0 });
    }
    const rentals = await this.db('rentals').whereIn('user_id', ids).select('no', 'wallet_id');
    this.wallets.push(
      ...rows.map(({ id, user_id: userId }) => ({
        ...{ id, userId, balances: [], instants: [] },
        rentals: rentals.filter((rental) => rental.wallet_id === id).map(({ no }) => no),
      })),
    );
  }

  /** Writes the next entries of many wallets by one statement, which moves the wallets too. */
  async write(entriesOf: ReadonlyMap<KnownWallet, readonly NewEntry[]>): Promise<void> {
    const rows = [...entriesOf].flatMap(([{ id }, entries]) =>
      entries.map((entry, no) => ({ ...entry, wallet: id, no: no + 1 })),
    );
    await this.db.raw(
      `with e as materialized (
         select * from jsonb_to_recordset(:rows::jsonb)
           as e (wallet bigint, no int, type ledger_entry_type, cents bigint, ms bigint, rental bigint, charge text, note text)
       ), moved as (
         update wallets w set available_cents = w.available_cents + s.cents, seq = w.seq + s.entries
           from (select wallet, sum(cents) as cents, count(*) as entries from e group by wallet) s where w.id = s.wallet
         returning w.id, w.seq - s.entries as seq, w.available_cents + w.reserved_cents - s.cents as cents
       ), caused as (
         insert into ledger_causes (cause, wallet_id, seq)
         select 'operation:op_' || m.id || '_' || m.seq + e.no, m.id, m.seq + e.no
           from e join moved m on m.id = e.wallet where e.type <> 'rental_charge'
       )
       insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, processor_charge_id,
                                   note, created_at)
       select m.id, m.seq + e.no, e.type, e.cents, m.cents + sum(e.cents) over (partition by m.id order by e.no), e.rental,
              e.charge, e.note, from_epoch_ms(e.ms)
         from e join moved m on m.id = e.wallet`,
      { rows: JSON.stringify(rows) },
    );
    for (const [{ balances, instants }, entries] of entriesOf) {
      for (const { cents, ms } of entries) {
        balances.push((balances.at(-1) ?? 0) + cents);
        instants.push(ms);
      }
    }
  }

  /** Seals all entries of some wallets, at most so many at once. */
  async seal(wallets: readonly KnownWallet[], most: () => number): Promise<void> {
    let left = wallets.map(({ id }) => id);
    while (left.length > 0) {
      const { rows } = await this.db.raw<{ rows: { id: number }[] }>(
        'select id from unnest(:left::bigint[]) id where seal_wallet(id, 1, :most) > 0',
        { left, most: most() },
      );
      left = rows.map(({ id }) => id);
    }
  }

  /** Takes all seals of some wallets back. */
  async unseal(wallets: readonly KnownWallet[]): Promise<void> {
    await this.db.raw('select switch_sealing(false)');
    let left = wallets.map(({ id }) => id);
    while (left.length > 0) {
      const { rows } = await this.db.raw<{ rows: { id: number }[] }>(
        'select id from unnest(:left::bigint[]) id where unseal_wallet(id) > 0',
        { left },
      );
      left = rows.map(({ id }) => id);
    }
    await this.db.raw('select switch_sealing(true)');
  }

  /** Begins the root over all seals, and builds it. */
  async beginRoot(): Promise<void> {
    await this.db.raw('update ledger_sealing set daily_at = clock_ms()');
    await makeRoot(this.db);
  }

  /** Signs the roots that wait. @returns how many */
  async sign(): Promise<number> {
    let signed = 0;
    const keys = { key: this.#key, before: this.#keyBefore };
    while ((await signNext(this.db, keys, this.rootsFile)) !== undefined) signed += 1;
    return signed;
  }

  /** From the next root on, another key signs. */
  changeKey(): void {
    this.#keyBefore = this.#key;
    this.#key = this.#makeKey();
  }

  /** Copies the database away. */
  async backUp(atMs: number): Promise<void> {
    await raiseWatermark(this.db);
    await this.db.destroy();
    this.#backup = { database: await copyDatabase(this.database), wallets: structuredClone(this.wallets) };
    this.db = openDatabase(this.database.url, 1, 'test');
    await this.at(atMs);
  }

  /** Goes on from the copy, as `ops restore reconcile` lets the service do. */
  async restore(atMs: number): Promise<void> {
    const { database, wallets } = this.#backup!;
    this.#backup = undefined;
    await this.db.destroy();
    await this.database.drop();
    this.database = database;
    this.wallets = wallets;
    this.db = openDatabase(database.url, 1, 'test');
    await this.at(atMs);
    await reconcilingWithin(this.db, beginEpoch);
    await confirmDatabase(this.db, null);
  }

  /** The file of a month; undefined: there is none yet. */
  async file({ userId }: KnownWallet, month: string, db = this.db): Promise<string | undefined> {
    const proof = await findProof(db, userId, monthOf(month)!);
    if (!proof) return undefined;
    const parts: string[] = [];
    for await (const part of linesOfProof(db, proof, month)) parts.push(part);
    return parts.join('');
  }

  #makeKey(): KeyObject {
    this.#keys += 1;
    return makeKeyFile(join(this.#folder, `key-${this.#keys}.pem`));
  }
}
