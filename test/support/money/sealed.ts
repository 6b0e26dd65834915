import { newId } from '../../../adapters/ids.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { buildRoots } from '../../../activities/upkeep/roots.js';
import { explainEntry } from '../../../adapters/postgres/explain/explain-entry.js';
import { readSettlementSheet } from '../../../adapters/postgres/explain/settlement-sheet.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { readLedger, type LedgerFilter } from '../../../adapters/postgres/ledger/ledger-reads.js';
import { beginRoot } from '../../../adapters/postgres/ledger/roots.js';
import { sumCharges } from '../../../adapters/postgres/ledger/rental-charges.js';
import { readSpending } from '../../../adapters/postgres/ledger/spending-reads.js';
import {
  findStretch,
  readStatement,
  readStretch,
} from '../../../adapters/postgres/ledger/statement-reads.js';
import { verifyLedger, verifyRecent } from '../../../adapters/postgres/ledger/verify.js';
import type { LedgerEntryRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { ledgerEntryTypes } from '../../../domain/ledger/ledger.js';
import { insertRunning } from './money.js';

/** An entry that is written `gapMs` after the one before it. */
export interface Entry {
  readonly type: 'rental_charge' | 'refund' | 'adjustment' | 'processor_topup';
  readonly rental: number;
  readonly cents: number;
  readonly gapMs: number;
}

/** Seals a wallet's next entries. @returns how many */
export async function seal(db: Database, { id }: WalletRow, most = 7): Promise<number> {
  const { rows } = await db.raw<{ rows: { sealed: number }[] }>('select seal_wallet(?, 1, ?) as sealed', [
    id,
    most,
  ]);
  return rows[0]!.sealed;
}

/** Seals all entries of a wallet. */
export async function sealWhole(db: Database, wallet: WalletRow, most = 7): Promise<void> {
  while ((await seal(db, wallet, most)) > 0);
}

/** Unseals a wallet's newest seal. @returns how many entries it held */
export async function unseal(db: Database, { id }: WalletRow): Promise<number> {
  await db.raw('select switch_sealing(false)');
  const { rows } = await db.raw<{ rows: { held: number }[] }>('select unseal_wallet(?) as held', [id]);
  await db.raw('select switch_sealing(true)');
  return rows[0]!.held;
}

/** Unseals all of a wallet. */
export async function unsealWhole(db: Database, wallet: WalletRow): Promise<void> {
  while ((await unseal(db, wallet)) > 0);
}

/** Makes a root over all seals, and its tree, as the night does. */
export async function makeRoot(db: Database): Promise<void> {
  await beginRoot(db);
  await buildRoots({ db } as ActivityDeps, () => undefined);
}

/** The rows of a wallet, as they lie in the table. */
export async function rowsOf(db: Database, { id }: WalletRow): Promise<LedgerEntryRow[]> {
  return db('ledger_entries').where({ wallet_id: id }).orderBy('seq');
}

/** Writes entries as the service does: each moves its wallet in the same statement. */
export async function writeEntries(
  db: Database,
  wallet: WalletRow,
  rentals: readonly RentalId[],
  entries: readonly Entry[],
): Promise<void> {
  let ms = Date.UTC(2026, 0, 31, 22);
  for (const { type, rental, cents, gapMs } of entries) {
    ms += gapMs;
    await db.raw(
      `with w as (
         update wallets set available_cents = available_cents + :cents, seq = seq + 1 where id = :id
         returning id, seq, available_cents + reserved_cents as total
       )
       insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, processor_charge_id,
                                   note, created_at)
       select id, seq, :type::ledger_entry_type, :cents, total, (select no from rentals where id = :rental),
              case when :type = 'processor_topup' then 'ch_' || seq end, case when :type = 'adjustment' then 'by hand' end,
              from_epoch_ms(:ms) from w`,
      {
        ...{ id: wallet.id, type, ms, cents: type === 'rental_charge' ? -cents : cents },
        rental: type === 'rental_charge' || type === 'refund' ? (rentals[rental] ?? null) : null,
      },
    );
  }
}

/** Inserts rentals that run, and that metering never charged. */
export async function insertRentals(db: Database, wallet: WalletRow, count: number): Promise<RentalId[]> {
  const ids: RentalId[] = [];
  for (let no = 0; no < count; no += 1) {
    ids.push(await insertRunning(db, wallet, { priceCents: 100, ranMs: 60_000, holdCents: 0 }));
  }
  return ids;
}

/** Reads one after the other: many at once would wait for a connection longer than they may. */
async function each<T, R>(all: readonly T[], read: (one: T) => Promise<R>): Promise<R[]> {
  const found: R[] = [];
  for (const one of all) found.push(await read(one));
  return found;
}

/** What every reader of the ledger says. */
export async function readEverything(
  db: Database,
  wallet: WalletRow,
  rentals: readonly RentalId[],
): Promise<unknown> {
  const { id: walletId, user_id: user } = wallet;
  const pages = async (filter: LedgerFilter, limit: number) => {
    const found: unknown[] = [];
    for (let beforeSeq: number | undefined; ;) {
      const page = await readLedger(
        db,
        user,
        { ...filter, ...(beforeSeq !== undefined && { beforeSeq }) },
        limit,
      );
      found.push(page);
      beforeSeq = page.entries.at(-1)?.seq;
      if (page.entries.length < limit) return found;
    }
  };
  const all = await findStretch(db, user);
  const entries = await readStretch(db, all, 10_000);
  for (let last = entries.at(-1); last && last.seq < all.toSeq - 1; last = entries.at(-1)) {
    entries.push(...(await readStretch(db, { ...all, fromSeq: last.seq + 1 }, 10_000)));
  }
  const instants = [...new Set(entries.map(({ createdAt }) => createdAt.getTime()))].filter(
    (_, no) => no % 5 === 0,
  );
  const middle = new Date(instants[Math.floor(instants.length / 2)] ?? 0);
  return {
    entries,
    pages: await pages({}, 5),
    ofTypes: await each(ledgerEntryTypes, (type) => pages({ type }, 3)),
    ofRentals: await each(rentals, (rentalId) => pages({ rentalId }, 4)),
    ofNone: await pages({ rentalId: newId('rent') }, 4),
    ofBoth: await pages({ rentalId: rentals[0], type: 'rental_charge', fromSeq: 4 }, 4),
    stretches: await each(instants, (at) => findStretch(db, user, undefined, new Date(at))),
    statement: await readStatement(db, user, { from: new Date(0), to: middle }),
    later: await readStatement(db, user, { from: middle, to: new Date(Date.UTC(2040, 0)) }),
    spending: await readSpending(db, user, { from: new Date(0), to: middle }),
    laterSpending: await readSpending(db, user, { from: middle, to: new Date(Date.UTC(2040, 0)) }),
    charges: await each(rentals, async (rental) => [
      await sumCharges(db, user, rental, 'hour'),
      await sumCharges(db, user, rental, 'day'),
    ]),
    why: await each(
      entries.filter((_, no) => no % 4 === 1),
      ({ id }) => explainEntry(db, id, 1, user),
    ),
    sheets: await each(rentals, (rental) => readSettlementSheet(db, rental)),
    verified: [await verifyLedger(db, user), await verifyRecent(db, new Date(0))],
    walletId,
  };
}
