import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { findQuote, insertQuote } from '../../../adapters/postgres/rentals/quotes.js';
import {
  findRentalRequest,
  insertRentalRequest,
} from '../../../adapters/postgres/requests/opening-requests.js';
import type { ListingRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import type { QuoteId, RentalId } from '../../../domain/ids.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { Refusal } from '../../../domain/refusal.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { openRental, type OpenedRental } from '../../../money/rentals/open.js';
import { QuoteInOtherHands } from '../../../money/rentals/quotes.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';
import { TestMarket } from '../../support/money/test-market.js';
import {
  credit,
  getRental,
  getWallet,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../support/money/money.js';

describe('the transaction that opens a rental by a quote', () => {
  let money: MoneyDatabase;
  let db: Database;
  let market: TestMarket;
  let wallet: WalletRow;
  let listing: ListingRow;
  let quoteId: QuoteId;
  before(async () => {
    money = await openMoneyDatabase();
    db = money.db;
    await insertProvider(db);
  });
  beforeEach(async () => {
    await db('listings').update({ offered: false });
    listing = await insertListing(db, { price_per_hour_cents: 50 });
    market = new TestMarket(db);
    wallet = await insertWallet(db, 100);
    quoteId = await quoteOf();
  });
  after(() => money.close());

  function requestOf(asked: Partial<RentalRequest> = {}): RentalRequest {
    return {
      userId: wallet.user_id,
      familyId: 'rtx-4090',
      gpuCount: 1,
      templateId: 'ubuntu-24-04',
      region: null,
      name: 'quoted',
      sshKeyIds: [],
      autoStopAfterMs: 3_600_000,
      maxSpendCents: null,
      maxPricePerHourCents: null,
      ...asked,
    };
  }

  async function quoteOf(asked: Partial<RentalRequest> = {}): Promise<QuoteId> {
    const id = newId('quo');
    await insertQuote(db, { id, request: requestOf(asked), listing });
    return id;
  }

  /** Lets the minute of the quote be over. */
  async function expire(): Promise<void> {
    await db('quotes')
      .where({ id: quoteId })
      .update({
        created_at: db.raw(`clock_ms() - interval '2 minutes'`),
        expires_at: db.raw(`clock_ms() - interval '1 minute'`),
      });
  }

  /** Commits a request by the quote, as the API does, with this long for its answer. */
  async function ask(id: QuoteId = quoteId, forMs = 30_000): Promise<RentalId> {
    const quote = (await findQuote(db, wallet.user_id, id)) ?? assert.fail('there is a quote');
    const rentalId = newId('rent');
    const request = {
      ...quote.request,
      userId: wallet.user_id,
      maxPricePerHourCents: quote.price_per_hour_cents,
    };
    await insertRentalRequest(db, rentalId, request, new Date(Date.now() + forMs), id);
    return rentalId;
  }

  async function open(rentalId: RentalId, at: TestMarket = market): Promise<OpenedRental | Refusal> {
    const request = (await findRentalRequest(db, rentalId)) ?? assert.fail('there is a request');
    const answerBefore = request.answerBefore.toISOString();
    const quote = { id: request.quoteId ?? assert.fail(), requestedAt: request.requestedAt };
    return openRental(db, { rentalId, request, answerBefore, quote }, at, rentalLimits.freeMachines);
  }

  async function isRefused(code: string, rentalId?: RentalId): Promise<Refusal> {
    const id = rentalId ?? (await ask());
    const answer = await open(id);
    assert.ok(answer instanceof Refusal);
    assert.equal(answer.code, code, answer.message);
    assert.equal(await takenBy(), null, 'the quote stays free');
    assert.equal((await getWallet(db, wallet.user_id)).reserved_cents, 0);
    return answer;
  }

  async function takenBy(id: QuoteId = quoteId): Promise<RentalId | null> {
    return (await db('quotes').where({ id }).first('rental_id'))?.rental_id ?? null;
  }

  it('buys what was quoted, and notes whose it is', async () => {
    const rentalId = await ask();
    assert.deepEqual(await open(rentalId), { rentalId, pricePerHourCents: 50, providerCode: 'lab' });
    assert.equal(await takenBy(), rentalId);
    const rental = await getRental(db, rentalId);
    assert.deepEqual([rental.name, rental.auto_stop_after_ms, rental.hold_cents], ['quoted', 3_600_000, 50]);
  });

  it('opens one rental for all requests that name it, also after its minute, and asks no upstream again', async () => {
    const first = await ask();
    const second = await ask();
    const opened = await open(first);
    await expire();
    assert.deepEqual(await open(second), opened);
    assert.deepEqual(await open(await ask(quoteId, -1)), opened, 'also when that request is late');
    assert.equal(market.asked.length, 1);
    assert.equal((await db('rentals').where({ user_id: wallet.user_id })).length, 1);
    assert.equal((await getWallet(db, wallet.user_id)).reserved_cents, 50);
  });

  it('opens one rental for requests that come at once', async () => {
    await credit(db, wallet.user_id, 1_000);
    const ids = await Promise.all(Array.from({ length: 6 }, () => ask()));
    const opened = await Promise.all(ids.map((id) => open(id)));
    assert.equal(market.asked.length, 1);
    assert.deepEqual(
      new Set(opened.map((answer) => !(answer instanceof Refusal) && answer.rentalId)).size,
      1,
    );
    assert.equal((await db('rentals').where({ user_id: wallet.user_id })).length, 1);
  });

  it('takes one that has got cheaper, and nothing that is dearer', async () => {
    await insertListing(db, { price_per_hour_cents: 51 });
    await insertListing(db, { price_per_hour_cents: 45 });
    const rentalId = await ask();
    await open(rentalId);
    assert.equal((await getRental(db, rentalId)).price_per_hour_cents, 45);
  });

  it('takes another one at the quoted price when the quoted one has gone', async () => {
    const other = await insertListing(db, { price_per_hour_cents: 50, region_code: 'SE' });
    await db('listings').where({ id: listing.id }).update({ offered: false });
    const rentalId = await ask();
    await open(rentalId);
    assert.equal((await getRental(db, rentalId)).listing_id, other.id);
  });

  it('stays with the family, the count and the region that were asked for', async () => {
    quoteId = await quoteOf({ region: 'NO' });
    await db('listings').where({ id: listing.id }).update({ offered: false });
    await insertListing(db, { price_per_hour_cents: 10, region_code: 'SE' });
    await insertListing(db, { price_per_hour_cents: 10, gpu_count: 2 });
    await insertListing(db, { price_per_hour_cents: 10, family: 'l4' });
    await isRefused('model_unavailable');
    assert.equal(market.asked.length, 0);
  });

  it('refuses a price that has risen, with the new one, even by less than a tenth', async () => {
    await db('listings').where({ id: listing.id }).update({ price_per_hour_cents: 51 });
    const { details } = await isRefused('price_changed');
    assert.deepEqual(details, {
      quoteId,
      quotedPricePerHourCents: 50,
      pricePerHourCents: 51,
      triedListingIds: [],
    });
    assert.equal(market.asked.length, 0);
  });

  it('refuses a price above the cap of the first request as unavailable: no new quote could help', async () => {
    quoteId = await quoteOf({ maxPricePerHourCents: 50 });
    await db('listings').where({ id: listing.id }).update({ price_per_hour_cents: 51 });
    await isRefused('model_unavailable');
  });

  it('tells the tried ones when there is no capacity, as dearer or as unavailable', async () => {
    market.sell = () => Promise.resolve({ kind: 'none' });
    const { details } = await isRefused('model_unavailable');
    assert.deepEqual(details?.['triedListingIds'], [listing.id]);
    await insertListing(db, { price_per_hour_cents: 60 });
    const dearer = await isRefused('price_changed');
    assert.deepEqual(
      [dearer.details?.['pricePerHourCents'], dearer.details?.['triedListingIds']],
      [60, [listing.id]],
    );
  });

  it('does not call it a risen price when there are more at that price than were tried', async () => {
    for (let more = 0; more < 6; more += 1) await insertListing(db, { price_per_hour_cents: 50 });
    market.sell = () => Promise.resolve({ kind: 'none' });
    await isRefused('model_unavailable');
    assert.equal(market.asked.length, 5);
  });

  it('refuses one that was named after its minute; a request in time has it, however late its try comes', async () => {
    // A quote expires after it was made: not in the same millisecond.
    await db.raw('select pg_sleep(0.005)');
    const inTime = await ask();
    await db('quotes')
      .where({ id: quoteId })
      .update({ expires_at: db.raw(`(select requested_at from rental_requests where id = ?)`, [inTime]) });
    await db.raw('select pg_sleep(0.005)');
    const { details } = await isRefused('quote_expired');
    assert.equal(details?.['quoteId'], quoteId);
    assert.ok(!((await open(inTime)) instanceof Refusal));
  });

  it('stays free for another request when there is too little money', async () => {
    await db('listings').where({ id: listing.id }).update({ price_per_hour_cents: 150 });
    quoteId = await quoteOf();
    await db('quotes').where({ id: quoteId }).update({ price_per_hour_cents: 150 });
    await isRefused('insufficient_balance');
    await credit(db, wallet.user_id, 100);
    const rentalId = await ask();
    assert.ok(!((await open(rentalId)) instanceof Refusal));
    assert.equal(await takenBy(), rentalId);
  });

  it('is none of another user', async () => {
    const other = await insertWallet(db, 100);
    const rentalId = newId('rent');
    const request = { ...requestOf(), userId: other.user_id };
    await insertRentalRequest(db, rentalId, request, new Date(Date.now() + 30_000), quoteId);
    const answer = await open(rentalId);
    assert.ok(answer instanceof Refusal && answer.code === 'quote_not_found');
    assert.equal(await takenBy(), null);
  });

  describe('when a process died after it bought', () => {
    /** A request whose process has bought a machine and died before its commit. */
    async function died(forMs = 30_000): Promise<{ rentalId: RentalId; at: TestMarket }> {
      const rentalId = await ask(quoteId, forMs);
      const at = new TestMarket(db);
      at.bought = { listing, purchase: await at.attempt({ rentalId, listing }) };
      return { rentalId, at };
    }

    it('buys no second machine while the first request may still take its own', async () => {
      const { rentalId, at } = await died();
      await assert.rejects(open(await ask()), QuoteInOtherHands);
      assert.equal(market.asked.length, 0);
      await open(rentalId, at);
      assert.equal(await takenBy(), rentalId);
      assert.equal((await getRental(db, rentalId)).tag, at.bought?.purchase.attempt.tag);
    });

    it('goes on once the first one can’t any more, or has given its machine up', async () => {
      await died(-1);
      const late = await ask();
      await open(late);
      assert.equal(await takenBy(), late);

      quoteId = await quoteOf();
      await credit(db, wallet.user_id, 100);
      const { at } = await died();
      await moveAttempt(db, at.bought!.purchase.attempt.id, 'open', 'condemned', {
        error: 'no longer wanted',
      });
      const next = await ask();
      await open(next);
      assert.equal(await takenBy(), next);
    });
  });
});
