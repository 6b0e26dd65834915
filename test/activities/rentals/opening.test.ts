import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { knownStarts } from '../../../adapters/postgres/catalog/starts.js';
import { insertQuote } from '../../../adapters/postgres/rentals/quotes.js';
import { insertRentalRequest } from '../../../adapters/postgres/requests/opening-requests.js';
import type { AllocationAttemptRow, ListingRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { ProviderError } from '../../../adapters/providers/provider.js';
import { vastSoftware } from '../../../adapters/providers/vast/vast-software.js';
import { catalogLimits } from '../../../domain/catalog/limits.js';
import type { QuoteId, RentalId } from '../../../domain/ids.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';
import { until } from '../../support/until.js';
import { getRental, getWallet, insertWallet } from '../../support/money/money.js';

const CHEAP = 100;
/** One cent above what an opening takes without being told. */
const TOO_DEAR = 111;
const inTime = new Date('2099-01-01T00:00:00.000Z');

describe('the opening of a rental', () => {
  let lone: LoneActivities;
  let cheap: ListingRow;
  let wallet: WalletRow;
  const upstream = new ScriptedUpstream();
  const other = new ScriptedUpstream();
  const short = new ScriptedUpstream();
  const keysMaxChars = { alone: 100, besideScript: 50 };
  before(async () => {
    lone = await startActivities({
      providers: new Map([
        ['lab', upstream.port],
        ['other', { ...other.port, code: 'other' }],
        ['short', { ...short.port, code: 'short', software: { ...vastSoftware, keysMaxChars } }],
      ]),
      settings: { openLockWaitMs: 100 },
    });
    await insertProvider(lone.db);
    await insertProvider(lone.db, 'other');
    await insertProvider(lone.db, 'short');
    cheap = await insertListing(lone.db, { offer_id: 'cheap', price_per_hour_cents: CHEAP });
    await insertListing(lone.db, { offer_id: 'dear', price_per_hour_cents: TOO_DEAR });
    for (const family of ['l40s', 'a100-80gb']) {
      for (const price of [CHEAP, TOO_DEAR])
        await insertListing(lone.db, { family, price_per_hour_cents: price });
    }
  });
  beforeEach(async () => {
    upstream.reset();
    wallet = await insertWallet(lone.db, 1_000);
    await lone.db('providers').update({ create_failures: 0, out_until: null, out_reason: null });
  });
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  function requestOf(asked: Partial<RentalRequest>): RentalRequest {
    return {
      ...{ userId: wallet.user_id, familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04' },
      ...{ region: null, name: null, sshKeyIds: [], autoStopAfterMs: null, maxSpendCents: null },
      maxPricePerHourCents: null,
      ...asked,
    };
  }

  async function ask(asked: Partial<RentalRequest> = {}, quoteId: QuoteId | null = null): Promise<RentalId> {
    const rentalId = newId('rent');
    await insertRentalRequest(lone.db, rentalId, requestOf(asked), inTime, quoteId);
    return rentalId;
  }

  const told = (rentalId: RentalId) => ({ rentalId, open: { answerBefore: inTime.toISOString() } });
  const open = (rentalId: RentalId) => lone.run('openRental', told(rentalId));

  async function attempts(rentalId: RentalId): Promise<AllocationAttemptRow[]> {
    return lone.db('allocation_attempts').where({ rental_id: rentalId }).orderBy('id');
  }

  async function assertNothingIsOpen(): Promise<void> {
    assert.deepEqual(await lone.db('rentals').where({ user_id: wallet.user_id }), []);
    assert.equal((await getWallet(lone.db, wallet.user_id)).reserved_cents, 0);
  }

  describe('while somebody else holds the wallet', () => {
    /** Holds the wallet as a create under way does, until what is done meanwhile has ended. */
    async function whileHeld(work: () => Promise<unknown>): Promise<void> {
      const lock = await lone.db.transaction();
      await lock.raw('select id from wallets where id = ? for no key update', [wallet.id]);
      try {
        await work();
      } finally {
        await lock.rollback();
      }
      assert.deepEqual(upstream.asked, []);
    }

    it('waits, and then tells its caller when to come back', async () => {
      const rentalId = await ask();
      const seconds = rentalLimits.openLockWaitMs / 1_000;
      await whileHeld(() =>
        assert.rejects(open(rentalId), {
          ...{ name: 'ApplicationFailure', type: 'rate_limited', nonRetryable: true },
          details: [{ retryAfterSeconds: seconds }],
        }),
      );
      await assertNothingIsOpen();
    });

    it('is tried again where that may be a try of its own which broke off', async () => {
      const rentalId = await ask();
      const again = () => lone.runAgain('openRental', told(rentalId));
      await whileHeld(() => assert.rejects(again(), { name: 'UserBusy' }));
      assert.equal((await again()).rentalId, rentalId);
    });

    it('is tried again where that may be another request for the same quote', async () => {
      const quoteId = newId('quo');
      await insertQuote(lone.db, { id: quoteId, request: requestOf({}), listing: cheap });
      const first = await ask({ maxPricePerHourCents: CHEAP }, quoteId);
      const second = await ask({ maxPricePerHourCents: CHEAP }, quoteId);
      await whileHeld(() => assert.rejects(open(second), { name: 'UserBusy' }));
      await open(first);
      assert.equal((await lone.runAgain('openRental', told(second))).rentalId, first);
    });
  });

  /** Decision 88, "Rows before workflows": a caller who reaches Temporal can name a row, and no more. */
  describe('that somebody else than the service begins', () => {
    const inHours = () => new Date(Date.now() + 3_600_000).toISOString();

    it('gets what the committed request says, whatever its input says', async () => {
      const victim = await insertWallet(lone.db, 5_000);
      const rentalId = await ask({ name: 'as it was asked' });
      const forged = requestOf({ userId: victim.user_id, gpuCount: 8, name: 'forged' });
      await lone.run('openRental', { rentalId, open: { ...forged, answerBefore: inHours() } });
      const row = await getRental(lone.db, rentalId);
      assert.deepEqual([row.user_id, row.gpu_count, row.name], [wallet.user_id, 1, 'as it was asked']);
    });

    it('gets nothing after the time that the request was given', async () => {
      const rentalId = newId('rent');
      await insertRentalRequest(lone.db, rentalId, requestOf({}), new Date(Date.now() - 1_000));
      await assert.rejects(open(rentalId), { type: 'temporarily_unavailable' });
      await assertNothingIsOpen();
    });
  });

  it('goes elsewhere at once with an order that is too large for an upstream, which nobody blames for it', async () => {
    const listing = { family: 'b300', price_per_hour_cents: CHEAP };
    for (const _ of [1, 2, 3]) await insertListing(lone.db, listing);
    const fitting = await insertListing(lone.db, {
      ...listing,
      provider_code: 'other',
      price_per_hour_cents: 105,
    });
    const tooLong = () =>
      Promise.reject(new ProviderError('no_capacity', 'the keys are too long', { unfitOrder: true }));
    upstream.allocations.push(tooLong, tooLong, tooLong);
    const rentalId = await ask({ familyId: 'b300' });
    await open(rentalId);
    assert.deepEqual([upstream.asked.length, other.asked], [1, [['allocate', fitting.offer_id]]]);
    const [first, second] = await attempts(rentalId);
    assert.deepEqual([first?.state, first?.failed_by, second?.state], ['failed', 'us', 'adopted']);
    const lab = await lone.db('providers').where({ code: 'lab' }).first();
    assert.equal(lab?.last_error, null);
  });

  it('asks no upstream that takes fewer characters of SSH keys, stored ones or not', async () => {
    const family = 'h200';
    await insertListing(lone.db, { family, provider_code: 'short', price_per_hour_cents: CHEAP });
    await insertListing(lone.db, { family, price_per_hour_cents: 105 });
    const priceOf = async (key: string) =>
      (await open(await ask({ familyId: family, sshPublicKeys: [key] }))).pricePerHourCents;
    assert.equal(await priceOf('k'.repeat(98)), 105);
    assert.deepEqual(short.asked, []);
    assert.equal(await priceOf('k'.repeat(97)), CHEAP);
  });

  describe('where nothing is left', () => {
    const soldOut = () => Promise.reject(new ProviderError('no_capacity', 'sold out'));

    it('takes no machine that is more than a tenth dearer', async () => {
      upstream.allocations.push(soldOut);
      await assert.rejects(open(await ask({ familyId: 'l40s' })), { type: 'model_unavailable' });
      assert.equal(upstream.asked.length, 1);
      await assertNothingIsOpen();
    });

    it('takes the dearer one that was agreed to', async () => {
      upstream.allocations.push(soldOut);
      const agreed = await open(await ask({ familyId: 'a100-80gb', maxPricePerHourCents: TOO_DEAR }));
      assert.equal(agreed.pricePerHourCents, TOO_DEAR);
    });

    /** Inserts two offers, of which the cheap one has just failed. */
    async function insertFailed(asked: Pick<RentalRequest, 'familyId'>, otherCents: number) {
      const { familyId: family } = asked;
      const bad = await insertListing(lone.db, { family, price_per_hour_cents: CHEAP });
      const good = await insertListing(lone.db, { family, price_per_hour_cents: otherCents });
      upstream.allocations.push(soldOut);
      await open(await ask({ ...asked, maxPricePerHourCents: otherCents }));
      assert.deepEqual(upstream.asked, [
        ['allocate', bad.offer_id],
        ['allocate', good.offer_id],
      ]);
      await until(
        'the failure is known',
        async () => (await knownStarts(lone.db)).recent.get(bad.id)?.asked === 1,
      );
      upstream.asked.length = 0;
      return { bad, good };
    }

    it('sends nobody to a much dearer machine than the one that has just failed, whatever may be paid', async () => {
      const wanted = { familyId: 'h200-141gb' };
      const { bad } = await insertFailed(wanted, TOO_DEAR);
      await open(await ask({ ...wanted, maxPricePerHourCents: 10 * CHEAP }));
      assert.deepEqual(upstream.asked, [['allocate', bad.offer_id]]);
    });

    it('sends nobody to the machine that has just failed another, but who can pay for no other one', async () => {
      const wanted = { familyId: 'b200' };
      const { bad, good } = await insertFailed(wanted, CHEAP + 10);
      wallet = await insertWallet(lone.db, CHEAP + 10);
      await open(await ask(wanted));
      wallet = await insertWallet(lone.db, CHEAP);
      await open(await ask(wanted));
      // Who says what it may cost gets nothing dearer.
      wallet = await insertWallet(lone.db, 1_000);
      await open(await ask({ ...wanted, maxPricePerHourCents: CHEAP }));
      assert.deepEqual(
        upstream.asked.map(([, offer]) => offer),
        [good.offer_id, bad.offer_id, bad.offer_id],
      );
    });
  });

  describe('whose create does not tell what the machine costs (decision 74)', () => {
    const creates = {
      'has no price': (podId: string) => Promise.resolve({ podId, pricePerHourCents: null }),
      'was lost': (podId: string) => Promise.reject(new ProviderError('unknown', 'no answer', { podId })),
    };
    for (const [what, answer] of Object.entries(creates)) {
      it(`reads it in the list, gives a dearer one back and takes the next: its answer ${what}`, async () => {
        const rentalId = await ask({ maxPricePerHourCents: TOO_DEAR });
        upstream.allocations.push(async (request) => {
          const { podId } = await upstream.sell(request, TOO_DEAR + 1);
          return answer(podId);
        });
        assert.equal((await open(rentalId)).pricePerHourCents, TOO_DEAR);
        const [first, second] = await attempts(rentalId);
        assert.deepEqual([first?.state, second?.state], ['condemned', 'adopted']);
        assert.deepEqual(upstream.names, ['allocate', 'find', 'terminate', 'allocate']);
      });
    }
  });

  it('keeps an upstream on sale whose creates fail although their machines are there', async () => {
    const failures = { create_failures: catalogLimits.breakAfterFailures - 1 };
    await lone.db('providers').where({ code: 'lab' }).update(failures);
    const rentalId = await ask();
    upstream.allocations.push(async (request) => {
      await upstream.sell(request);
      throw new ProviderError('unknown', 'HTTP 500');
    });
    await open(rentalId);
    assert.notEqual((await getRental(lone.db, rentalId)).pod_id, null, 'it is found by its tag');
    const upstreamRow = await lone.db('providers').where({ code: 'lab' }).first();
    assert.deepEqual([upstreamRow?.create_failures, upstreamRow?.out_reason], [0, null]);
  });
});
