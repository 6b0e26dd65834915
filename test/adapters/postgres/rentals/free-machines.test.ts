import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { insertAttempt } from '../../../../adapters/postgres/machines/attempts.js';
import { recordBadMachine } from '../../../../adapters/postgres/machines/proofs.js';
import { tieAccount } from '../../../../adapters/postgres/accounts/account-ties.js';
import { openDatabase, type Database, type Transaction } from '../../../../adapters/postgres/database.js';
import { readFreeMachines } from '../../../../adapters/postgres/rentals/free-machines.js';
import type { RentalRow, UserRow } from '../../../../adapters/postgres/rows/tables.js';
import { seenOf } from '../../../../adapters/postgres/rentals/facts.js';
import { mayBeFree, tooManyFree } from '../../../../domain/rentals/free-machines.js';
import { rentalLimits } from '../../../../domain/rentals/limits.js';
import { stopReasons } from '../../../../domain/rentals/rental.js';
import { createTestDatabase } from '../../../support/servers/database.js';
import { insertRental, insertUser } from '../../../support/money/factories.js';

const MINUTE = 60_000;
const limits = rentalLimits.freeMachines;

/** Decision 83, "Cost of one caller": which rows count, and whose. The sum is domain/rentals/free-machines.ts. */
describe('machines that nobody was billed for', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  let user: UserRow;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'test');
  });
  beforeEach(async () => {
    user = await insertUser(db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  /** The cost that refuses a user's next machine, in cents, or nothing. */
  async function refusedAt({ id }: UserRow = user, more = {}): Promise<number | undefined> {
    const seen = await db.transaction((trx) => readFreeMachines(trx, id, { ...limits, ...more }));
    return tooManyFree(seen, { ...limits, ...more })?.costCents;
  }

  /** A machine at 30 dollars an hour that was stopped this many minutes ago as soon as it was bought: 50 cents. */
  async function ended(minutesAgo: number, columns: Partial<RentalRow> = {}, by = user): Promise<RentalRow> {
    const at = new Date(Date.now() - minutesAgo * MINUTE);
    return insertRental(db, by.id, {
      ...{ status: 'stopped', stop_reason: 'user', pod_id: 'pod', price_per_hour_cents: 3_000 },
      ...{ started_at: at, ended_at: at, settled_at: at, terminated_at: at, closed_at: at },
      ...columns,
    });
  }

  it('count where their user or a limit of theirs ended them, or the money was given back', async () => {
    const ran = { running_at: new Date(Date.now() - 2 * MINUTE) };
    const soon = { ended_at: new Date(Date.now() - 2 * MINUTE + 1_000) };
    await ended(1);
    for (const stop_reason of ['auto_stop', 'spend_limit', 'balance_exhausted'] as const) {
      await ended(1, { stop_reason, ...ran, ...soon });
    }
    const refunded = { charged_cents: 50, refunded_cents: 50, status: 'failed', error: 'lost' } as const;
    await ended(1, { ...refunded, ...ran, ...soon, stop_reason: null });
    assert.equal(await refusedAt(), 250);
  });

  it('are found in SQL as the domain finds them', async () => {
    const at = Date.now();
    const software = JSON.stringify({ ports: [] }) as never;
    const ends: Partial<RentalRow>[] = [
      { status: 'failed', stop_reason: null, error: 'failed' },
      ...stopReasons.map((stop_reason) => ({ status: 'stopped' as const, stop_reason })),
    ];
    const rows = [
      await insertRental(db, user.id, { price_per_hour_cents: 1 }),
      await insertRental(db, user.id, { price_per_hour_cents: 2, status: 'running', running_at: new Date() }),
    ];
    for (const end of ends) {
      for (const ranMs of [null, limits.minMs - 1, limits.minMs]) {
        for (const more of [{}, { software }]) {
          for (const minutesAgo of [1, 61]) {
            const running_at = ranMs === null ? null : new Date(at - minutesAgo * MINUTE - ranMs);
            const ended_at = new Date(at - minutesAgo * MINUTE);
            const price = { price_per_hour_cents: rows.length + 1 };
            rows.push(await ended(minutesAgo, { ...end, ...more, ...price, running_at, ended_at }));
          }
        }
      }
    }
    const seen = await db.transaction((trx) => readFreeMachines(trx, user.id, limits));
    const free = rows.filter((row) => mayBeFree(seenOf(row), seen.at, limits));
    const pricesOf = (prices: readonly number[]): number[] => [...prices].sort((a, b) => a - b);
    assert.deepEqual(
      pricesOf(seen.machines.map(({ pricePerHourCents }) => pricePerHourCents)),
      pricesOf(free.map((row) => row.price_per_hour_cents)),
    );
  });

  it('count what was charged for them off, and one that came up late not at all', async () => {
    const ran = { running_at: new Date(Date.now() - 70_000), ended_at: new Date(Date.now() - 60_000) };
    for (let i = 0; i < 4; i += 1) await ended(1, { ...ran, charged_cents: 20 });
    assert.equal(await refusedAt(), 120);
    const late = new Date(Date.now() - 10 * MINUTE);
    for (let i = 0; i < 4; i += 1) await ended(1, { started_at: late });
    assert.equal(await refusedAt(), 120);
  });

  it('count own software from when its upstream ran it: whoever is root says when it is ready, and that it is bad', async () => {
    const running = Date.now() - 70_000;
    const ran = { running_at: new Date(running), ended_at: new Date(running + 10_000), charged_cents: 9 };
    const active_at = new Date(running - 2 * MINUTE);
    const software = JSON.stringify({ ports: [] }) as never;
    await db('providers').insert({ code: 'lab' }).onConflict('code').ignore();
    for (const pod_id of ['mute', 'silent', 'bad']) {
      await db('pods').insert({
        ...{ provider_code: 'lab', pod_id, tag: pod_id, status: 'ending', upstream_status: 'deleting' },
        ...{ first_seen_at: active_at, active_at },
      });
    }
    await ended(1, { ...ran, pod_id: 'mute', software, ready_by: 'grace' });
    await ended(1, { ...ran, pod_id: 'silent', software, ready_by: 'ssh' });
    await ended(1, { ...ran, pod_id: 'unlisted', software, ready_by: 'grace' });
    await ended(1, { ...ran, pod_id: 'mute', ready_by: 'ssh' });
    // 130 s of two, and the least of two others, each less what was charged.
    const ranCents = (2 * (3_000 * 130)) / 3_600 + 2 * 50 - 4 * 9;
    assert.equal(await refusedAt(), Math.ceil(ranCents));
    const failed = {
      status: 'failed',
      error: 'The machine is not what you rented.',
      stop_reason: null,
    } as const;
    const started_at = new Date(running - 10 * MINUTE);
    await ended(1, { ...failed, started_at, ended_at: new Date(running), pod_id: 'bad', software });
    assert.equal(await refusedAt(), Math.ceil(ranCents + (3_000 * 120) / 3_600));
  });

  it('count machines that rentals left because own software called them bad', async () => {
    const software = JSON.stringify({ ports: [] }) as never;
    await db('providers').insert({ code: 'lab' }).onConflict('code').ignore();
    const leave = async (columns: object) => {
      const { id } = await insertRental(db, user.id, { price_per_hour_cents: 6_000, ...columns });
      const attempt = await insertAttempt(db, {
        ...{ rentalId: id, deployment: 'test', providerCode: 'lab', listingId: newId('lst'), offerId: 'o' },
        ...{ pricePerHourCents: 6_000, endBy: null, deadlineMs: MINUTE },
      });
      const finding = { faults: [], outcome: 'not_billed', confirmed: false } as const;
      await recordBadMachine(db, { ...finding, faults: [], rentalId: id, tag: attempt.tag });
    };
    const ended = {
      ...{ status: 'failed', error: 'none left', settled_at: new Date(), closed_at: new Date() },
      ...{ pod_id: null, ended_at: new Date() },
    } as const;
    await leave(ended);
    assert.equal(await refusedAt(), undefined);
    await leave({ ...ended, software });
    assert.equal(await refusedAt(), 100);
  });

  it('do not count where the upstream failed, was slow or lost them, or an operator stopped them', async () => {
    const other = await insertUser(db);
    const paid = { running_at: new Date(Date.now() - 30 * MINUTE), charged_cents: 1_450 };
    for (let i = 0; i < 4; i += 1) {
      await ended(1, paid);
      await ended(1, { status: 'failed', error: 'never ready', stop_reason: null });
      await ended(1, { stop_reason: 'operator' });
      await ended(1, { stop_reason: 'pod_lost', running_at: new Date(Date.now() - 2 * MINUTE) });
      await ended(1, { pod_id: null });
      await ended(61);
      await insertRental(db, user.id, {
        status: 'running',
        running_at: new Date(),
        price_per_hour_cents: 3_000,
      });
      await ended(1, {}, other);
    }
    assert.equal(await refusedAt(), undefined);
  });

  it('may cost a tenth of what was paid in 30 days, where that is more', async () => {
    const paid = (daysAgo: number) =>
      ended(daysAgo * 24 * 60, { running_at: new Date(0), charged_cents: 2_000, price_per_hour_cents: 1 });
    for (const minutesAgo of [1, 2, 3]) await ended(minutesAgo);
    await paid(31);
    assert.equal(await refusedAt(), 150);
    await paid(29);
    assert.equal(await refusedAt(), undefined);
  });

  it('have one bound for all accounts of a card, whoever has removed it', async () => {
    const accounts = [await insertUser(db), await insertUser(db), await insertUser(db)];
    for (const account of accounts) {
      await tie(account, 'card', 'fp_one');
      await ended(1, {}, account);
      assert.equal(await refusedAt(user), undefined);
    }
    await tie(user, 'card', 'fp_other');
    assert.equal(await refusedAt(user), undefined);
    await tie(user, 'card', 'fp_one');
    assert.equal(await refusedAt(user), 150);
  });

  it('have one bound for the accounts of an address while they are new', async () => {
    const accounts = [user, await insertUser(db), await insertUser(db)];
    for (const account of accounts) {
      await tie(account, 'address', '198.51.100.7');
      await ended(1, {}, account);
    }
    assert.equal(await refusedAt(), 150);
    assert.equal(await refusedAt(user, { newAccountMs: 0 }), undefined);
    await db('account_ties')
      .where({ user_id: user.id })
      .update({ tied_at: new Date(Date.now() - limits.newAccountMs) });
    assert.equal(await refusedAt(), undefined, 'an older account is on its own');
    assert.equal(await refusedAt(accounts[1]), 100);
  });

  const tie = (to: UserRow, kind: 'card' | 'address', value: string) =>
    db.transaction((trx) => tieAccount(trx, to.id, kind, value));

  it('are found without reading the thousands that have ended for longer', async () => {
    const { id } = await ended(70);
    await copyOf(id, 5_000);
    await db.transaction(async (trx) => {
      const before = await readRows(trx);
      await readFreeMachines(trx, user.id, limits);
      const read = (await readRows(trx)) - before;
      assert.ok(read < 100, `${read} rows`);
    });
  });

  /** Makes this many copies of a rental. */
  async function copyOf(id: string, count: number): Promise<void> {
    const columns = `wallet_id, user_id, status, family, model, gpu_count, region, region_code, interconnect, template_id,
      ssh_key_ids, listing_id, provider_code, pod_id, price_per_hour_cents, hold_cents, started_at, ended_at, settled_at,
      terminated_at, closed_at, stop_reason`;
    await db.raw(
      `insert into rentals (id, tag, ${columns})
       select 'rent_' || lpad(n::text, 26, '0'), 'copy-' || n, ${columns}
         from rentals, generate_series(1, :count::int) n where id = :id`,
      { id, count },
    );
    await db.raw('vacuum analyze rentals');
  }

  /** The number of rows of rentals that this transaction has read from the table itself. */
  async function readRows(trx: Transaction): Promise<number> {
    const { rows } = await trx.raw<{ rows: { read: number }[] }>(
      `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relname = 'rentals'`,
    );
    return rows[0]!.read;
  }
});
