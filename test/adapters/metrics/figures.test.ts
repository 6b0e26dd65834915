import assert from 'node:assert/strict';
import { pino } from 'pino';
import { exposeFigures, type FigureGroup } from '../../../adapters/metrics/figures.js';
import { createRegistry, type Registry } from '../../../adapters/metrics/registry.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { businessFigures } from '../../../adapters/postgres/figures/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { readMetrics, type Scraped } from '../../support/http/metrics.js';

const log = pino({ level: 'silent' });

describe('figures of the business', () => {
  let database: TestDatabase;
  let db: Database;

  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'figures-test');
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  /** A registry with groups of figures, and a way to read it. */
  function expose(
    groups: readonly FigureGroup[],
    options: { cacheMs?: number; limitMs?: number } = {},
  ): { registry: Registry; scrape: () => Promise<Scraped> } {
    const registry = createRegistry('worker');
    const refresh = exposeFigures(registry, groups, { db, log, cacheMs: 0, ...options });
    return {
      registry,
      scrape: async () => {
        await refresh();
        return readMetrics(await registry.metrics());
      },
    };
  }

  function counting(read: FigureGroup['read']): FigureGroup {
    return { name: 'tested', metrics: { tested: { help: 'A test.' } }, read };
  }

  it('count the marks of denied payments that nobody has lifted, by kind', async () => {
    const { scrape } = expose(businessFigures([]));
    const mark = (id: string, kind: 'dispute' | 'early_fraud_warning', lifted_at: Date | null = null) => ({
      ...{ id, kind, lifted_at, charge_id: 'ch_1', fingerprint: 'fp_1' },
    });
    const marks = async (): Promise<unknown[]> => {
      const shown = await scrape();
      return ['dispute', 'early_fraud_warning'].map((kind) => shown.get('gpu_rental_charge_marks', { kind }));
    };
    assert.deepEqual(await marks(), [0, 0]);
    const lifted = mark('du_3', 'dispute', new Date());
    await db('charge_marks').insert([mark('du_1', 'dispute'), mark('du_2', 'dispute'), lifted]);
    assert.deepEqual(await marks(), [2, 0]);
    await db('charge_marks').insert(mark('issfr_1', 'early_fraud_warning'));
    assert.deepEqual(await marks(), [2, 1]);
  });

  it('let a balance run down while it is not read, and show none that no upstream told', async () => {
    const { scrape } = expose(businessFigures(['lab', 'silent', 'idle']));
    await db('providers').insert([
      { code: 'silent' },
      { code: 'lab', ...balance(4_800, 100, 3_600) },
      { code: 'idle', ...balance(1, 0, 0) },
    ]);
    const shown = await scrape();
    const of = (metric: string, provider: string) => shown.get(`gpu_rental_provider_${metric}`, { provider });
    assert.deepEqual([of('balance_cents', 'lab'), of('burn_cents_per_hour', 'lab')], [4_800, 100]);
    // One of the 48 hours is over.
    const left = of('runway_seconds', 'lab')!;
    assert.ok(left > 47 * 3_600 - 60 && left <= 47 * 3_600, `${left} s`);
    assert.ok(of('balance_age_seconds', 'lab')! >= 3_600);
    assert.equal(of('runway_seconds', 'idle'), Infinity);
    assert.equal(of('balance_cents', 'silent'), undefined);
    await db('providers')
      .where({ code: 'lab' })
      .update(balance(-5, 0, 0));
    assert.ok((await scrape()).get('gpu_rental_provider_runway_seconds', { provider: 'lab' })! <= 0);
    await db('providers').delete();
  });

  it('tell of an upstream that operators have paused, whatever its circuit says', async () => {
    const { scrape } = expose(businessFigures(['lab']));
    const out = async (): Promise<unknown[]> => {
      const shown = await scrape();
      return ['paused', 'refused'].map((reason) =>
        shown.get('gpu_rental_provider_out', { provider: 'lab', reason }),
      );
    };
    assert.deepEqual(await out(), [0, 0], 'it was never seen');
    await db('providers').insert({ code: 'lab' });
    assert.deepEqual(await out(), [0, 0]);
    const paused = { paused_at: new Date(), paused_by: 'ann', paused_reason: 'test' };
    await db('providers').where({ code: 'lab' }).update(paused);
    assert.deepEqual(await out(), [1, 0]);
    const refused = { out_reason: 'refused' as const, out_until: db.raw(`now() + interval '1 minute'`) };
    await db('providers').where({ code: 'lab' }).update(refused);
    assert.deepEqual(await out(), [1, 1]);
    await db('providers').delete();
  });

  it('tell which GPUs no table knows, the most frequent names alone', async () => {
    await db('providers').insert([{ code: 'lab' }, { code: 'gone' }]);
    const odd = (subject: string, times: number, provider = 'lab', kind = 'unknown_gpu') =>
      db('provider_oddities').insert({ provider_code: provider, kind, subject, times });
    for (let no = 1; no <= 25; no += 1) await odd(`GPU ${no}`, no);
    await odd('x'.repeat(100), 1_000);
    await odd('not configured', 1, 'gone');
    await odd('somewhere', 5_000, 'lab', 'unknown_region');
    await odd('of last week', 9_000);
    await db('provider_oddities')
      .where({ subject: 'of last week' })
      .update({ last_seen_at: db.raw(`now() - interval '7 days'`) });
    const { samples } = await expose(businessFigures(['lab'])).scrape();
    const told = samples.filter(({ name }) => name === 'gpu_rental_unknown_gpu_offers');
    assert.equal(told.length, 20);
    assert.deepEqual(
      told.slice(0, 3).map(({ labels, value }) => [labels['provider'], labels['gpu'], value]),
      [
        ['lab', 'x'.repeat(60), 1_000],
        ['lab', 'GPU 25', 25],
        ['lab', 'GPU 24', 24],
      ],
    );
    await db('provider_oddities').delete();
    await db('providers').delete();
  });

  const balance = (cents: number, burnCents: number, secondsAgo: number) => ({
    balance_cents: cents,
    burn_cents_per_hour: burnCents,
    balance_read_at: db.raw(`now() - ? * interval '1 second'`, [secondsAgo]),
  });

  it('are all read from an empty database, and nothing is made up', async () => {
    const groups = businessFigures(['lab']);
    const shown = await expose(groups).scrape();
    const failed = shown.samples.filter(({ name }) => name === 'gpu_rental_figures_failed');
    assert.ok(groups.length >= 8);
    assert.equal(failed.length, groups.length);
    assert.deepEqual(
      failed.filter(({ value }) => value !== 0),
      [],
    );
    assert.equal(shown.get('gpu_rental_mails_unsent'), 0);
    assert.equal(shown.get('gpu_rental_catalog_age_seconds', { provider: 'lab' }), Infinity);
    assert.equal(shown.get('gpu_rental_webhook_lag_seconds', { quantile: '0.5' }), undefined);
    assert.equal(shown.get('gpu_rental_last_tick_age_seconds', { shard: '0' }), undefined);
  });

  it('tell the age of the oldest mail that waits, and not of one that is set aside', async () => {
    const { scrape } = expose(businessFigures([]));
    const mail = { recipient: 'gone@example.com', subject: 's', body: 'b' };
    const old = { created_at: db.raw(`now() - interval '2 days'`) };
    const [refused] = await db('mail_outbox').insert({ ...mail, ...old, cause: 'test:1' }, 'id');
    const age = async () => (await scrape()).get('gpu_rental_oldest_unsent_mail_seconds')!;
    assert.ok((await age()) > 86_400);
    await db('stuck_items').insert({
      ...{ duty: 'mail', item: String(refused!.id), attempts: 12, last_error: '550 no such mailbox' },
      ...{ first_failed_at: new Date(), last_failed_at: new Date() },
      ...{ next_attempt_at: new Date(), set_aside_at: new Date() },
    });
    assert.equal(await age(), 0);
    await db('mail_outbox').insert({
      ...mail,
      cause: 'test:2',
      created_at: db.raw(`now() - interval '1 hour'`),
    });
    const waiting = await age();
    assert.ok(waiting > 3_500 && waiting < 7_200, String(waiting));
    assert.equal((await scrape()).get('gpu_rental_mails_unsent'), 2);
    await Promise.all([db('mail_outbox').delete(), db('stuck_items').delete()]);
  });

  it('tell how long a root has waited, by its step, and for signatures once there was one', async () => {
    const { scrape } = expose(businessFigures([]));
    const waits = async (): Promise<(number | undefined)[]> => {
      const shown = await scrape();
      return ['begin', 'build', 'sign'].map((step) => {
        const seconds = shown.get('gpu_rental_oldest_waiting_root_seconds', { step })!;
        return Math.floor(seconds / 3_600);
      });
    };
    const hoursAgo = (hours: number) => db.raw(`clock_ms() - ? * interval '1 hour'`, [hours]);
    const tree = { nodes: Buffer.alloc(4_096 * 32), tree: Buffer.alloc(32) };
    const sign = (number: number) =>
      db.raw(
        `update ledger_roots r set signature = 's', signed_at = clock_ms(),
                line = 'root 1 ' || root_facts(r) || repeat(' ' || repeat('0', 64), 2) || chr(10) where number = ?`,
        [number],
      );
    assert.deepEqual(await waits(), [0, 0, 0], 'off');
    await db.raw('select switch_sealing(true)');
    await db('ledger_sealing').update({ daily_at: hoursAgo(5) });
    assert.deepEqual(await waits(), [5, 0, 0]);
    await db('ledger_roots').insert([
      { number: 1, epoch: 1, made_at: hoursAgo(50), ...tree },
      { number: 2, epoch: 1, made_at: hoursAgo(30), ...tree },
      { number: 3, epoch: 1, made_at: hoursAgo(4), walk_began_at: db('ledger_sealing').select('daily_at') },
    ] as never);
    assert.deepEqual(await waits(), [0, 4, 0], 'nobody signs');
    await sign(1);
    assert.deepEqual(await waits(), [0, 4, 30]);
    await sign(2);
    await db('ledger_roots').where({ number: 3 }).update(tree);
    assert.deepEqual(await waits(), [0, 0, 4]);
    await sign(3);
    assert.deepEqual(await waits(), [0, 0, 0]);
  });

  it('are missing, and not zero, while they can not be read', async () => {
    const state = { broken: false };
    const group = counting(async (trx) => {
      await trx.raw(state.broken ? 'select * from nowhere' : 'select 1');
      return [{ metric: 'tested', value: 7 }];
    });
    const { scrape } = expose([group]);
    assert.equal((await scrape()).get('gpu_rental_tested'), 7);
    state.broken = true;
    const shown = await scrape();
    assert.equal(shown.get('gpu_rental_tested'), undefined);
    assert.equal(shown.get('gpu_rental_figures_failed', { figures: 'tested' }), 1);
    const readAt = shown.get('gpu_rental_figures_read_timestamp_seconds', { figures: 'tested' });
    assert.ok(readAt !== undefined && readAt <= Date.now() / 1_000 && readAt > Date.now() / 1_000 - 60);
    state.broken = false;
    assert.equal((await scrape()).get('gpu_rental_tested'), 7);
  });

  it('have a limit of time', async () => {
    const slow = counting(async (trx) => {
      await trx.raw('select pg_sleep(120)');
      return [{ metric: 'tested', value: 1 }];
    });
    const startMs = performance.now();
    const shown = await expose([slow], { limitMs: 200 }).scrape();
    assert.equal(shown.get('gpu_rental_figures_failed', { figures: 'tested' }), 1);
    assert.ok(performance.now() - startMs < 60_000);
  });

  it('are read once for all who ask within some seconds', async () => {
    let reads = 0;
    const group = counting(() => {
      reads += 1;
      return Promise.resolve([{ metric: 'tested', value: reads }]);
    });
    const { scrape } = expose([group], { cacheMs: 60_000 });
    await Promise.all([scrape(), scrape(), scrape()]);
    assert.equal((await scrape()).get('gpu_rental_tested'), 1);
    assert.equal(reads, 1);
  });

  it('may not write', async () => {
    const writing = counting(async (trx) => {
      await trx('brakes').insert({ kind: 'creates', pulled_by: 'a figure', reason: 'none' });
      return [];
    });
    const shown = await expose([writing]).scrape();
    assert.equal(shown.get('gpu_rental_figures_failed', { figures: 'tested' }), 1);
    assert.equal(await db('brakes').first(), undefined);
  });

  it('show how long a wallet has been locked', async () => {
    const held = openDatabase(database.url, 1, 'figures-test-lock');
    const lock = await held.transaction();
    try {
      await lock.raw('select id from wallets for update');
      await lock.raw('select pg_sleep(0.3)');
      const shown = await expose(businessFigures([])).scrape();
      assert.ok(shown.get('gpu_rental_oldest_wallet_lock_seconds')! >= 0.3);
      assert.ok(shown.get('gpu_rental_oldest_transaction_seconds')! >= 0.3);
    } finally {
      await lock.rollback();
      await held.destroy();
    }
  });
});
