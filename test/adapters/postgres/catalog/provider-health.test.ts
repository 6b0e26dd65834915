import assert from 'node:assert/strict';
import { findCheapestOffer } from '../../../../adapters/postgres/catalog/offers.js';
import { listLiveListings } from '../../../../adapters/postgres/catalog/listings.js';
import {
  isOutNow,
  listProviders,
  noteProviderFailure,
  noteProviderSuccess,
  rateLimitedForMs,
  type UpstreamUse,
} from '../../../../adapters/postgres/catalog/provider-health.js';
import { listOddities, recordOddities } from '../../../../adapters/postgres/catalog/provider-oddities.js';
import { createOddityBook } from '../../../../adapters/providers/upstream/oddity-book.js';
import { ProviderError, type ProviderErrorKind } from '../../../../adapters/providers/provider.js';
import { catalogLimits } from '../../../../domain/catalog/limits.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import { insertListing, insertProvider } from '../../../support/money/factories.js';

describe('the circuit of an upstream', () => {
  let database: MoneyDatabase;
  beforeEach(async () => {
    database = await openMoneyDatabase();
    await database.db('listings').delete();
    await database.db('providers').where({ code: 'lab' }).delete();
    await insertProvider(database.db, 'lab');
    await insertListing(database.db, {});
  });
  afterEach(() => database.close());

  const failure = (kind: ProviderErrorKind, details: ProviderError['details'] = {}): ProviderError =>
    new ProviderError(kind, 'a test', details);

  async function fail(times: number, use: UpstreamUse = 'reading'): Promise<void> {
    for (let n = 0; n < times; n += 1) await noteProviderFailure(database.db, 'lab', use, failure('unknown'));
  }

  async function isForSale(): Promise<boolean> {
    const { db } = database;
    const listed = await listLiveListings(db, {}, undefined, 10);
    const [listing] = await db('listings');
    const offer = await findCheapestOffer(
      db,
      {
        familyId: listing?.family ?? '',
        gpuCount: listing?.gpu_count ?? 0,
        ...{ region: null, maxPricePerHourCents: null, providerCodes: ['lab'], templateId: null },
      },
      [],
    );
    assert.equal(listed.length > 0, offer !== undefined, 'the catalog and the opening of rentals agree');
    return offer !== undefined;
  }

  it('opens after five failures in a row, and its offers are not for sale', async () => {
    await fail(catalogLimits.breakAfterFailures - 1);
    assert.ok(await isForSale());
    await fail(1);
    assert.ok(!(await isForSale()));
    const rows = await listProviders(database.db);
    assert.deepEqual(
      rows.map((row) => [row.out_reason, row.last_error]),
      [['failing', 'unknown: a test']],
    );
  });

  it('closes with the next answer, and counts anew', async () => {
    await fail(catalogLimits.breakAfterFailures);
    await noteProviderSuccess(database.db, 'lab', 'reading');
    assert.ok(await isForSale());
    await fail(catalogLimits.breakAfterFailures - 1);
    assert.ok(await isForSale());
  });

  it('stays open longer with each further failure, five minutes at most', async () => {
    await fail(catalogLimits.breakAfterFailures);
    const outMs = async () => ((await listProviders(database.db))[0]?.out_until?.getTime() ?? 0) - Date.now();
    const first = await outMs();
    await fail(2);
    assert.ok((await outMs()) > first + catalogLimits.breakBaseMs);
    await fail(40);
    const longest = await outMs();
    assert.ok(Math.abs(longest - catalogLimits.breakMaxMs) < 5_000, `${longest} ms`);
  });

  it('closes by itself when its time is over', async () => {
    await fail(catalogLimits.breakAfterFailures);
    const { db } = database;
    await db('providers').update({ out_until: db.raw(`clock_ms() - interval '1 millisecond'`) });
    assert.ok(await isForSale());
  });

  it('has one for creates that lists which are well do not close', async () => {
    await fail(catalogLimits.breakAfterFailures, 'creating');
    await noteProviderSuccess(database.db, 'lab', 'reading');
    assert.ok(!(await isForSale()));
    await noteProviderSuccess(database.db, 'lab', 'creating');
    assert.ok(await isForSale());
  });

  for (const status of [401, 402, 403]) {
    it(`opens at once when the account is refused (${status}), whatever the lists say`, async () => {
      await noteProviderFailure(database.db, 'lab', 'creating', failure('refused', { status }));
      await noteProviderSuccess(database.db, 'lab', 'reading');
      assert.ok(!(await isForSale()));
    });
  }

  it('opens at once when the account has no money left, which operators are told once a day', async () => {
    for (let n = 0; n < 2; n += 1)
      await noteProviderFailure(database.db, 'lab', 'creating', failure('refused', { noFunds: true }));
    assert.ok(!(await isForSale()));
    assert.equal((await listProviders(database.db))[0]?.out_reason, 'no_funds');
    const notices = await database.db('operator_notices').select('subject');
    assert.deepEqual(notices, [{ subject: 'Our account at lab is out of money' }]);
  });

  it('opens when the account must not be used, and stays open while lists work', async () => {
    const unfit = failure('refused', { unfitAccount: true });
    for (let n = 0; n < 2; n += 1) await noteProviderFailure(database.db, 'lab', 'reading', unfit);
    await noteProviderSuccess(database.db, 'lab', 'reading');
    assert.ok(!(await isForSale()));
    assert.equal((await listProviders(database.db))[0]?.out_reason, 'refused');
    const notices = await database.db('operator_notices').select('subject');
    assert.deepEqual(notices, [{ subject: 'Our account at lab can’t be used' }]);
  });

  it('stays closed when one request is refused for what it says (422), or an offer is sold out', async () => {
    await noteProviderFailure(database.db, 'lab', 'creating', failure('refused', { status: 422 }));
    for (let n = 0; n < 10; n += 1)
      await noteProviderFailure(database.db, 'lab', 'creating', failure('no_capacity', { status: 400 }));
    assert.ok(await isForSale());
  });

  it('stays closed when others had their turn just now', async () => {
    const late = failure('rate_limited', { retryAfterMs: 12_000, outOfTurn: true });
    await noteProviderFailure(database.db, 'lab', 'creating', late);
    assert.ok(await isForSale());
  });

  it('stays closed when our own budget puts a purchase off: lists go on, and operators read why', async () => {
    const details = { retryAfterMs: 30_000, outOfTurn: true, overBudget: true };
    await noteProviderFailure(database.db, 'lab', 'creating', failure('rate_limited', details));
    assert.deepEqual([await isForSale(), await rateLimitedForMs(database.db, 'lab')], [true, 0]);
    assert.equal((await listProviders(database.db))[0]?.last_error, 'rate_limited: a test');
  });

  it('is open for as long as the upstream asks to be left alone', async () => {
    await noteProviderFailure(
      database.db,
      'lab',
      'creating',
      failure('rate_limited', { retryAfterMs: 7_000 }),
    );
    assert.ok(!(await isForSale()));
    const leftMs = await rateLimitedForMs(database.db, 'lab');
    assert.ok(leftMs > 5_000 && leftMs <= 7_000, `${leftMs} ms`);
  });

  it('is asked again after a quarter of an hour, however long it asks to be left alone', async () => {
    const day = 24 * 3_600_000;
    await noteProviderFailure(database.db, 'lab', 'reading', failure('rate_limited', { retryAfterMs: day }));
    assert.ok((await rateLimitedForMs(database.db, 'lab')) <= catalogLimits.rateLimitMaxMs);
  });

  for (const [use, error] of [
    ['reading', failure('rate_limited', { retryAfterMs: 3_600_000 })],
    ['creating', failure('refused', { status: 401 })],
  ] as const) {
    it(`closes when a clock that ran ahead has noted its end (${error.kind})`, async () => {
      const { db } = database;
      await noteProviderFailure(db, 'lab', use, error);
      assert.ok(!(await isForSale()));
      await db('providers').update({ out_until: db.raw(`out_until + interval '1 day'`) });
      assert.ok(await isForSale());
      assert.equal(await rateLimitedForMs(db, 'lab'), 0);
      const [row = assert.fail()] = await listProviders(db);
      assert.equal(isOutNow(row, Date.now()), false, 'for operators too');
      await noteProviderFailure(db, 'lab', use, error);
      assert.ok(!(await isForSale()), 'a true one');
      assert.equal(isOutNow((await listProviders(db))[0]!, Date.now()), true);
    });
  }

  it('keeps what was skipped in answers, counted', async () => {
    const book = createOddityBook();
    for (let n = 0; n < 3; n += 1) book.note('lab', { kind: 'unknown_gpu', subject: 'RTX 9090' });
    book.note('lab', { kind: 'unknown_region', subject: 'atlantis' });
    book.note('other', { kind: 'unknown_gpu', subject: 'not of the lab' });
    await recordOddities(database.db, 'lab', book.take('lab'));
    assert.deepEqual(book.take('lab'), []);
    book.note('lab', { kind: 'unknown_gpu', subject: 'RTX 9090' });
    await recordOddities(database.db, 'lab', book.take('lab'));
    const rows = await listOddities(database.db, 'lab');
    assert.deepEqual(
      rows.map(({ kind, subject, times }) => [kind, subject, times]),
      [
        ['unknown_gpu', 'RTX 9090', 4],
        ['unknown_region', 'atlantis', 1],
      ],
    );
  });
});
