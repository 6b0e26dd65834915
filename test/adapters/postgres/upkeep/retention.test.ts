import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { newId } from '../../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { replaceListings } from '../../../../adapters/postgres/catalog/catalog.js';
import { prune } from '../../../../adapters/postgres/upkeep/retention.js';
import type { RentalId } from '../../../../domain/ids.js';
import { forGood, retention, type Kept } from '../../../../domain/operations/retention.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import {
  insertApiKeyOf,
  insertProvider,
  insertRental,
  insertUser,
} from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('what is kept for operating is pruned', () => {
  let database: MoneyDatabase;
  let db: Database;
  /** The database with the worker's rights. */
  let worker: Database;
  before(async () => {
    database = await openMoneyDatabase();
    ({ db } = database);
    worker = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
  });
  after(async () => {
    await worker.destroy();
    await database.close();
  });

  const keptOf = (table: string): Kept => retention.find((kept) => kept.table === table)!;
  const ago = (ms: number) => db.raw(`clock_ms() - ? * interval '1 millisecond'`, [ms]);

  it('is decided for every table: either its time stands in one list, or why it stays', async () => {
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      `select c.relname as name from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname not like 'knex\\_%'
        order by 1`,
    );
    // The audit trail stays, and so do keys that rented something; the addresses in them are cut.
    const decided = new Set(retention.map(({ table }) => table));
    assert.deepEqual(
      [...decided, ...Object.keys(forGood)].toSorted(),
      rows.map(({ name }) => name).toSorted(),
    );
  });

  it('is told to operators, table by table', () => {
    const text = readFileSync(new URL('../../../../docs/operations/retention.md', import.meta.url), 'utf8');
    for (const { table, keptMs, since } of retention) {
      const days = `${keptMs / DAY} day${keptMs === DAY ? '' : 's'}`;
      const short = keptMs < DAY ? `${keptMs / MINUTE} minutes` : days;
      const time = `${keptMs === 0 ? 'at once' : short} after \`${since}\``;
      const rows = text.split('\n').filter((line) => line.startsWith(`| \`${table}\` `));
      assert.ok(
        rows.some((row) => row.includes(time)),
        `docs/operations/retention.md: ${table}: ${time}`,
      );
    }
  });

  for (const kept of retention) {
    it(`the worker may prune ${kept.table}, and reads what goes by an index`, async () => {
      assert.equal(await prune(worker, kept), 0);
      await db.transaction(async (trx) => {
        await trx.raw('set local enable_seqscan = off');
        const { rows } = await trx.raw<{ rows: Record<string, string>[] }>(
          `explain select t.ctid from ${kept.table} t where t.${kept.since} < ${kept.inEpochMs ? '1' : `'2020-01-01'`}
              ${kept.only === undefined ? '' : `and ${kept.only}`} order by t.${kept.since} limit 10`,
        );
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        // These two hold one row per tick engine and one per misspelt name.
        if (['meter_shards', 'provider_oddities'].includes(kept.table)) return;
        assert.match(plan, new RegExp(`Index Cond: \\(?${kept.since} <`), plan);
      });
    });
  }

  it('cuts from where an ended key was used, and leaves the key that rented something', async () => {
    const { id: userId } = await insertUser(db);
    const ended = { created_at: ago(100 * DAY), expires_at: ago(91 * DAY) };
    const used = { last_used_at: ago(92 * DAY), last_used_address: '192.0.2.7' };
    const keys = await Promise.all(
      [ended, { created_at: ago(100 * DAY), expires_at: ago(89 * DAY) }].map(async (times) => {
        const { row } = await insertApiKeyOf(db, userId);
        await db('api_keys')
          .where({ id: row.id })
          .update({ ...times, ...used });
        await insertRental(db, userId, { api_key_id: row.id });
        return row.id;
      }),
    );
    for (const kept of retention.filter(({ table }) => table === 'api_keys')) await prune(db, kept);
    const rows = await db('api_keys').where({ user_id: userId }).select('id', 'last_used_address');
    assert.deepEqual(
      keys.map((id) => rows.find((row) => row.id === id)?.last_used_address),
      [null, '192.0.2.7'],
    );
  });

  it('removes in small batches what is done and old enough, the oldest first', async () => {
    const user = await insertUser(db);
    const wallet = (await db('wallets').where({ user_id: user.id }).first())!;
    await db.raw(
      `insert into intents (kind, wallet_id, created_at, acknowledged_at)
       select 'auto_topup', :id, clock_ms() - n * interval '1 day', clock_ms() - n * interval '1 day'
         from generate_series(1, 17) n`,
      { id: wallet.id },
    );
    // Rows that nobody has acted on stay, however old.
    await db('intents').insert({ kind: 'low_balance', wallet_id: wallet.id, created_at: ago(90 * DAY) });
    const batches: number[] = [];
    const removed = await prune(worker, keptOf('intents'), {
      batchRows: 4,
      batches: 2,
      tell: (done) => batches.push(done.removed),
    });
    assert.deepEqual([removed, batches], [8, [4, 8]]);
    const older = await db('intents').where('acknowledged_at', '<', ago(9.5 * DAY));
    assert.deepEqual(older, [], 'those of 10 to 17 days went first');
    assert.equal(await prune(worker, keptOf('intents'), { batchRows: 4 }), 3, 'the rest in the next round');
    assert.deepEqual(await db('intents').count(), [{ count: 7 }]);
  });

  it('keeps the purchases and machines of a rental that is not closed, and of a machine that is there', async () => {
    await insertProvider(db);
    const user = await insertUser(db);
    const rental = await insertRental(db, user.id, { pod_id: 'pod-of-rental' });
    const attempt = (tag: string, rentalId: RentalId, columns: object = {}) => ({
      ...{
        rental_id: rentalId,
        attempt: 1,
        provider_code: 'lab',
        listing_id: newId('lst'),
        offer_id: 'o',
        tag,
      },
      ...{ price_per_hour_cents: 1, state: 'gone' as const, created_at: ago(500 * DAY), ...columns },
    });
    await db('allocation_attempts').insert([
      attempt('old', newId('rent')),
      attempt('open', newId('rent'), { state: 'open' }),
      attempt('of-rental', rental.id, { state: 'adopted' }),
      attempt('of-live-pod', newId('rent')),
    ]);
    const pod = (podId: string, tag: string, goneMs: number | null) => ({
      ...{ provider_code: 'lab', pod_id: podId, tag, status: 'active' as const, upstream_status: 'active' },
      ...{ first_seen_at: ago(500 * DAY), gone_at: goneMs === null ? null : ago(goneMs) },
    });
    await db('pods').insert([
      pod('pod-gone', 'x', 450 * DAY),
      pod('pod-live', 'of-live-pod', null),
      pod('pod-of-rental', 'of-rental', 450 * DAY),
    ]);
    await prune(worker, keptOf('allocation_attempts'));
    await prune(worker, keptOf('pods'));
    assert.deepEqual((await db('allocation_attempts').pluck('tag')).toSorted(), [
      'of-live-pod',
      'of-rental',
      'open',
    ]);
    assert.deepEqual((await db('pods').pluck('pod_id')).toSorted(), ['pod-live', 'pod-of-rental']);
  });

  it('keeps an offer that is there, that left lately, or that a quote names', async () => {
    const offer = {
      ...{ model: 'RTX_4090', family: 'rtx-4090', vramGb: 24, gpuCount: 1, pricePerHourCents: 50 },
      ...{ region: 'NO Oslo', regionCode: 'NO', interconnect: 'PCIe' },
    };
    const catalog = (...offerIds: string[]) =>
      replaceListings(
        db,
        'left-lab',
        offerIds.map((offerId) => ({ ...offer, offerId })),
      );
    await insertProvider(db, 'left-lab');
    const all = ['there', 'back', 'quoted', 'young', 'old'];
    await catalog(...all);
    await catalog('there');
    await catalog('there', 'back');
    const { id: userId } = await insertUser(db);
    const quoted = (await db('listings').where({ offer_id: 'quoted' }).first('id'))!;
    await db('quotes').insert({
      ...{ id: newId('quo'), user_id: userId, request: {}, listing_id: quoted.id, price_per_hour_cents: 1 },
      ...{ created_at: ago(2 * MINUTE), expires_at: ago(MINUTE) },
    } as never);
    await db('listings')
      .whereNot({ offer_id: 'young' })
      .update({ offer_changed_at: ago(91 * DAY) });
    assert.equal(await prune(worker, keptOf('listings')), 1);
    const left = () =>
      db('listings').where({ provider_code: 'left-lab' }).orderBy('offer_id').pluck('offer_id');
    assert.deepEqual(await left(), ['back', 'quoted', 'there', 'young']);
    const counted = await db('provider_families').where({ provider_code: 'left-lab' }).pluck('listings');
    assert.deepEqual(counted, [2], 'what is on sale is counted as before');
    await db('quotes').delete().where({ user_id: userId });
    assert.equal(await prune(worker, keptOf('listings')), 1);
    // Its time begins when it leaves, not when it came.
    await catalog();
    assert.equal(await prune(worker, keptOf('listings')), 0);
  });

  it('reads offers that left by an index, however many are on sale or quoted', async () => {
    const meant = new Error('all of it is undone');
    const looked = db.transaction(async (trx) => {
      await trx.raw(
        `insert into listings (id, provider_code, offer_id, model, family, vram_gb, gpu_count, price_per_hour_cents,
                               region, region_code, interconnect, offered, offer_changed_at)
         select 'lst_' || lpad(n::text, 26, '0'), 'left-lab', n::text, 'm', 'f', 24, 1, 100, 'r', 'US', 'PCIe',
                n % 10 = 0, clock_ms() - n * interval '1 hour'
           from generate_series(1, 20000) n`,
      );
      await trx.raw('analyze listings');
      const { only } = keptOf('listings');
      const { rows } = await trx.raw<{ rows: Record<string, string>[] }>(
        `explain select t.ctid from listings t where t.offer_changed_at < now() - interval '90 days' and ${only}
          order by t.offer_changed_at limit 2000`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, /Index Scan using listings_left/, plan);
      assert.doesNotMatch(plan, /Seq Scan on listings/, plan);
      throw meant;
    });
    await assert.rejects(looked, (error) => error === meant);
  });

  describe('the audit trail', () => {
    it('loses addresses after 90 days and nothing else, and takes none on again', async () => {
      const user = await insertUser(db);
      const event = (id: string, ms: number) => ({
        ...{ id: newId('aud'), user_id: user.id, kind: 'card_saved' as const, entity_id: id },
        ...{ client_address: '192.0.2.7', at: ago(ms) },
      });
      await db('audit_events').insert([event('old', 91 * DAY), event('young', 89 * DAY)]);
      assert.equal(await prune(worker, keptOf('audit_events')), 1);
      const addressOf = async (id: string) =>
        (await db('audit_events').where({ entity_id: id, user_id: user.id }).first())?.client_address;
      assert.deepEqual([await addressOf('old'), await addressOf('young')], [null, '192.0.2.7']);
      await worker('audit_events').where({ entity_id: 'old' }).update({ client_address: '192.0.2.8' });
      assert.equal(await addressOf('old'), null);
    });

    for (const [what, statement] of [
      [
        'an address that is not old',
        `update audit_events set client_address = null where entity_id = 'young'`,
      ],
      ['another address', `update audit_events set client_address = '::2' where entity_id = 'young'`],
      ['what was done', `update audit_events set kind = 'card_removed' where entity_id = 'old'`],
      ['when it was done', `update audit_events set at = at - interval '1 year' where entity_id = 'young'`],
      ['an event', `delete from audit_events where entity_id = 'old'`],
    ] as const) {
      it(`refuses to change or remove ${what}`, () =>
        assert.rejects(db.raw(statement), { constraint: 'audit_events_stay' }));
    }
  });
});
